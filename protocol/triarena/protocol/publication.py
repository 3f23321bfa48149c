"""The files in which the protocol is published, all made from the models, so that they cannot drift."""

from __future__ import annotations

from .document import document
from .markdown import json_text
from .schema import schema
from .vectors import vectors


def files() -> dict[str, str]:
    """File name to text: the document, the JSON Schema, the test vectors."""
    return {
        "protocol.md": document(),
        "protocol.schema.json": json_text(schema()) + "\n",
        "test-vectors.json": json_text(vectors()) + "\n",
    }
