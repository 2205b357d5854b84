"use strict";
// What it looks for by name, data-… and class is in report_queries.jinja and report_blocks.jinja.
// The page reads without this script, which adds: finding, filtering and sorting, sorting of the index, copying of commands.

const list = document.querySelector(".queries"), controls = document.querySelector(".controls");
const addQueryControls = () => {
  const names = ["words", "kind", "set", "order", "metric"];
  const [words, kind, set, order, metric] = names.map(name => controls.querySelector(`[name=${name}]`));
  const inputs = [words, kind, set, order, metric].filter(Boolean);
  const output = controls.querySelector("output");
  const read = text => (text ? text.split(" ") : []).map(value => (value === "-" ? null : Number(value)));
  const items = [...list.children].map((node, place) => ({
    node, place, now: read(node.dataset.now), before: read(node.dataset.before), label: node.dataset.label, set: node.dataset.set,
    explains: "explains" in node.dataset, id: node.querySelector(".id").textContent,
    shown: [".change", ".now", ".delta"].map(name => node.querySelector(name)), text: null,
  }));
  const delta = item => {
    const [now, before] = [item.now[metric.selectedIndex], item.before[metric.selectedIndex]];
    return now == null || before == null ? null : Math.abs(now - before) <= 2e-9 ? 0 : now - before;
  };
  const score = item => (metric ? item.now[metric.selectedIndex] : null);
  const or = (value, missing) => (value == null ? missing : value);
  const orders = {
    worst: (a, b) => a.place - b.place,
    fall: (a, b) => or(delta(a), 0) - or(delta(b), 0) || a.place - b.place,
    rise: (a, b) => or(delta(b), 0) - or(delta(a), 0) || a.place - b.place,
    score: (a, b) => or(score(a), Infinity) - or(score(b), Infinity) || a.place - b.place,
    id: (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  };
  const signs = { worse: "bad", better: "good", error: "bad" };
  const print = value => Math.abs(value).toFixed(4);
  const relabel = () => {
    for (const item of items) {
      const moved = delta(item), [change, now, difference] = item.shown, value = score(item);
      if (!["error", "new"].includes(item.label)) {
        item.label = moved == null ? "" : !moved ? "same" : moved < 0 ? "worse" : "better";
        change.textContent = item.label;
        change.className = `change word ${signs[item.label] || "plain"}`;
      }
      now.textContent = value == null ? "-" : (value < 0 ? "−" : "") + print(value);
      difference.textContent = moved == null ? "" : (moved < 0 ? "−" : moved > 0 ? "+" : "") + print(moved);
    }
    for (const name of document.querySelectorAll(".chosen")) name.textContent = metric.value;
  };
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of items) {
      if (wanted.length) item.text ??= item.node.textContent.toLowerCase();
      const fits = kind.value === "all" || (kind.value === "explains" ? item.explains : item.label === kind.value);
      const hidden = !(fits && (!set || !set.value || item.set === set.value) && wanted.every(word => item.text.includes(word)));
      if (item.node.hidden !== hidden) item.node.hidden = hidden;
      count += hidden ? 0 : 1;
    }
    output.textContent = `${count.toLocaleString("en")} of ${items.length.toLocaleString("en")} shown`;
  };
  const sort = () => list.append(...[...items].sort(orders[order.value]).map(item => item.node));
  const defaults = Object.fromEntries(inputs.map(input => [input.name, input.value]));
  const remember = () => {
    const chosen = inputs.filter(input => input.value !== defaults[input.name]).map(input => [input.name, input.value]);
    history.replaceState(null, "", chosen.length ? `#?${new URLSearchParams(chosen)}` : location.pathname + location.search);
  };
  const recall = () => {
    const chosen = new URLSearchParams(location.hash.slice(2));
    for (const input of inputs) if (chosen.has(input.name)) input.value = chosen.get(input.name);
  };
  words.addEventListener("input", () => { show(); remember(); });
  for (const input of [kind, set]) if (input) input.addEventListener("change", () => { show(); remember(); });
  order.addEventListener("change", () => { sort(); remember(); });
  if (metric) metric.addEventListener("change", () => { relabel(); sort(); show(); remember(); });
  // The counts at the top show the queries that they count.
  for (const link of document.querySelectorAll("[data-kind]")) {
    link.addEventListener("click", event => {
      event.preventDefault();
      kind.value = link.dataset.kind;
      words.value = "";
      show();
      remember();
      document.getElementById("queries").scrollIntoView();
    });
  }
  controls.hidden = false;
  if (location.hash.startsWith("#?")) {
    recall();
    if (metric && metric.value !== defaults.metric) relabel();
    if (order.value !== defaults.order) sort();
  }
  show();
};
if (list && controls) addQueryControls();

const index = document.querySelector(".index");
if (index) {
  const body = index.tBodies[0], heads = [...index.tHead.rows[0].cells];
  const number = text => Number(text.replace("−", "-").replace(/,/g, ""));
  const value = (row, column) => row.cells[column].textContent;
  heads.forEach((head, column) => {
    if (!("sort" in head.dataset)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = head.classList.contains("number") ? (a, b) => number(a) - number(b) : (a, b) => a.localeCompare(b);
      const rows = [...body.rows].sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
      body.append(...rows);
    });
  });
}

for (const command of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
      button.textContent = "Selected";
    }
  });
  command.after(button);
}

const openTarget = () => {
  if (location.hash.startsWith("#?")) return;
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const details = target.querySelector("details");
  if (details) details.open = true;
  target.hidden = false;
  target.scrollIntoView();
};
addEventListener("hashchange", openTarget);
openTarget();
