"""An HTML report as tests read it: its elements, its text, its links."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br"}


class Page(HTMLParser):
    """A page, of which every element is closed and no text is a comment."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]

    def assert_every_link_leads_somewhere(self):
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        for name in ("href", "aria-labelledby", "aria-describedby"):
            targets = {
                attributes[name].removeprefix("#")
                for tag, attributes in self.elements
                if name in attributes and tag != "link"
            }
            assert targets <= set(ids), name
