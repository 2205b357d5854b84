"use strict";
for (const section of document.querySelectorAll("section[id^=set-]")) {
  const controls = section.querySelector(".controls");
  if (!controls) continue;
  const [words, kind, order, metric] = ["words", "kind", "order", "metric"].map(name => controls.querySelector(`[name=${name}]`));
  const list = section.querySelector(".queries"), told = controls.querySelector("output");
  const read = text => (text ? text.split(" ") : []).map(value => (value === "-" ? null : Number(value)));
  const items = [...list.children].map((node, place) => ({
    node, place, now: read(node.dataset.now), before: read(node.dataset.before), label: node.dataset.label,
    written: Number(node.dataset.place), explains: "explains" in node.dataset, id: node.querySelector(".id").textContent,
    shown: [".change", ".now", ".delta"].map(name => node.querySelector(name)), text: null,
  }));
  const chosen = () => (metric ? metric.selectedIndex : 0);
  const delta = item => {
    const [now, before] = [item.now[chosen()], item.before[chosen()]];
    return now == null || before == null ? null : now - before;
  };
  const last = (value, missing) => (value == null ? missing : value);
  const orders = {
    worst: (a, b) => a.place - b.place,
    fall: (a, b) => last(delta(a), 0) - last(delta(b), 0) || a.place - b.place,
    rise: (a, b) => last(delta(b), 0) - last(delta(a), 0) || a.place - b.place,
    score: (a, b) => last(a.now[chosen()], Infinity) - last(b.now[chosen()], Infinity) || a.place - b.place,
    id: (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
    written: (a, b) => a.written - b.written,
  };
  const signs = { worse: "bad", better: "good", error: "bad" };
  const print = value => Math.abs(value).toFixed(4);
  const relabel = () => {
    for (const item of items) {
      const moved = delta(item), [change, now, difference] = item.shown, value = item.now[chosen()];
      if (item.label === "worse" || item.label === "better" || item.label === "same") {
        item.label = !moved ? "same" : moved < 0 ? "worse" : "better";
        change.textContent = item.label;
        change.className = `change word ${signs[item.label] || "plain"}`;
      }
      now.textContent = value == null ? "-" : (value < 0 ? "−" : "") + print(value);
      difference.textContent = moved == null ? "" : (moved < 0 ? "−" : moved > 0 ? "+" : "") + print(moved);
    }
    for (const name of section.querySelectorAll(".chosen")) name.textContent = metric.value;
  };
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of items) {
      if (wanted.length) item.text ??= item.node.textContent.toLowerCase();
      const fits = kind.value === "all" || (kind.value === "explains" ? item.explains : item.label === kind.value);
      item.node.hidden = !(fits && wanted.every(word => item.text.includes(word)));
      count += item.node.hidden ? 0 : 1;
    }
    told.textContent = `${count.toLocaleString("en")} of ${items.length.toLocaleString("en")} shown`;
  };
  const sort = () => list.append(...[...items].sort(orders[order.value]).map(item => item.node));
  words.addEventListener("input", show);
  kind.addEventListener("change", show);
  order.addEventListener("change", sort);
  if (metric) metric.addEventListener("change", () => { relabel(); sort(); show(); });
  controls.hidden = false;
  show();
}
const open = () => {
  const target = document.getElementById(location.hash.slice(1)), details = target && target.querySelector("details");
  if (!details || !target.matches(".queries > li")) return;
  target.hidden = false;
  details.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", open);
open();
