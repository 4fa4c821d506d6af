"""Reports as files: what `rankwork engines --json` prints, or the record of a notebook that kept one."""

import json
from pathlib import Path
from typing import Any

from rankwork.engines.running import FORMAT, Report
from rankwork.errors import InputError

# Under this name a notebook records its report, so that its record's results.json can be read here too.
RECORDED = "report"


def read_report(path: str | Path) -> Report:
    """The report in a JSON file, or in the results.json of a record that holds one. InputError for anything else."""
    name = Path(path).name
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{name} is not JSON: {error}") from None
    report = _recorded(found)
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise InputError(f"{name} is no report of engines: expected format {FORMAT}, got {_format(report)}")
    return report


def _recorded(found: Any) -> Any:
    """The report that a record's results hold under its name; other values as they are."""
    entry = found.get(RECORDED) if isinstance(found, dict) else None
    return entry["value"] if isinstance(entry, dict) and "value" in entry else found


def _format(report: Any) -> str:
    return repr(report.get("format")) if isinstance(report, dict) else type(report).__name__
