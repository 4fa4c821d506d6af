"""Evidence folders for the tests, with manifests that say as much as a listing needs."""

import json
from pathlib import Path
from typing import Any

from rankwork.digest import digest_bytes


def put(root: Path, **said: Any) -> str:
    """Put a record into an evidence folder; its ID."""
    recipe = {"parameters": said.pop("parameters", {})}
    started = {"started": said.pop("started", "2026-11-01T12:00:00+00:00")}
    manifest = {"notebook": "00_x", "status": "complete", "recipe": recipe, "time": started} | said
    data = json.dumps(manifest).encode()
    folder = root / digest_bytes(data)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_bytes(data)
    return folder.name
