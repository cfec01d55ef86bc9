"""A Griffe extension for the Python reference of the site: the fields of a class in one block, not one by one."""

from __future__ import annotations

import re
from typing import Any, Final

import griffe

SECTION: Final = re.compile(r"\n\n(?=\w+\n---)")  # where the text of a docstring ends and its sections begin


class Fields(griffe.Extension):
    """Puts the fields of a class that have no docstring into that of the class, with their types."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:  # noqa: ANN401 - of Griffe
        """Write them behind the text and before the sections."""
        fields = [f"{name}: {_type(each)}" for name, each in cls.attributes.items() if _is_field(name, each)]
        if cls.docstring is not None and fields and "\nAttributes\n---" not in cls.docstring.value:
            text, *sections = SECTION.split(cls.docstring.value.rstrip())
            cls.docstring.value = "\n\n".join((text, "\n".join(("```python", *fields, "```")), *sections))


def _is_field(name: str, attribute: griffe.Attribute) -> bool:
    plain = attribute.docstring is None and "property" not in attribute.labels
    return plain and attribute.annotation is not None and name.islower() and not name.startswith("_")


def _type(attribute: griffe.Attribute) -> str:
    """Return the type of a field without what is added for validation."""
    annotation = attribute.annotation
    if isinstance(annotation, griffe.ExprSubscript) and str(annotation.left) == "Annotated":
        first = annotation.slice
        annotation = first.elements[0] if isinstance(first, griffe.ExprTuple) else first
    return str(annotation)
