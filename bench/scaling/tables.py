"""Numbers and tables in Markdown."""


def number(value, digits=3):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{digits}g}"


def ratio(a, b):
    return None if a is None or b is None else a / b


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()
