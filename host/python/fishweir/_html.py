"""What notebooks show of a fitted classifier."""

import html


def describe(classifier):
    """A table of what a fitted classifier takes on a device; nothing before it is fitted."""
    if not hasattr(classifier, "model_"):
        return ""
    cost = classifier.cost()
    windows = classifier.model_.windows
    rows = [
        ("classes", ", ".join(str(name) for name in classifier.classes_)),
        ("decides", f"on windows of {windows[0]} samples, one every {windows[1]}" if windows else "on whole series"),
        ("model, in flash", f"{cost['model_bytes']:,} B"),
        ("state, in RAM", f"{cost['state_bytes']:,} B"),
        ("multiply-adds per sample", f"{cost['multiply_adds_per_sample']:,}"),
    ]
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="fishweir">{cells}</table>'
