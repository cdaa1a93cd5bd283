"""What a browser would make of what a check says."""

from html.parser import HTMLParser

from nbconvert.filters.markdown_mistune import markdown2html_mistune

OURS = {"p", "strong", "em", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "div", "span"}


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text, self.code, self.inside = [], "", "", []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, attributes))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        self.text += data
        if {"code", "pre"} & set(self.inside):
            self.code += data


def elements(html):
    parser = _Elements()
    parser.feed(html)
    parser.close()
    return parser


def strangers(result):
    """The elements of a result, in HTML and in Markdown as a notebook renders it, that are not ours."""
    both = [elements(result._repr_html_()), elements(markdown2html_mistune(result._repr_markdown_()))]
    # A block of code has a class for its language.
    return [
        each for form in both for each in form.found if each[0] not in OURS or any(n != "class" for n, _ in each[1])
    ]
