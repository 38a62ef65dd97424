"""Names that are safe in a path."""

from text_unidecode import unidecode


def slug(text: str) -> str:
    """The text as lower-case words joined by dashes."""
    words = "".join(c if c.isalnum() else " " for c in unidecode(text)).split()
    return "-".join(words).lower()
