"""Tables as Markdown."""


def format_table(columns: list[str], rows: list[list[str]]) -> str:
    """Format a table as Markdown."""
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"
