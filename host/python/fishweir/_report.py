"""Reports: numbers as a dictionary, and a text for people."""

import html
import json


class Report(dict):
    """The numbers of a report by name. As text, and in a notebook, it is the command's."""

    def __init__(self, report):
        numbers, self.text = report
        super().__init__(json.loads(numbers))

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"
