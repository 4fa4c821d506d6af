"""What is true of each tenant: limits by revision, codes, incidents, prices, dates."""

from datetime import UTC, datetime, timedelta

from rankwork.inputs.knowledge_base.catalogue import catalogue, phrases
from rankwork.inputs.knowledge_base.drawing import Draws
from rankwork.inputs.knowledge_base.tenants import Facts, Service, Tenant

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)  # most questions are asked in the week that begins here
LISTED_CODES = 6
SPARE_CODES = 2  # codes that look like those of the list and are in none

# A letter is a drawn digit, and two of them may agree.
_SHAPES = [
    "abcd",
    "abce",
    "abfd",
    "bacd",
    "acbd",
    "abc9",
    "9bcd",
    "abc0",
    "a0cd",
    "9bc9",
    "a9cd",
]

_REVISED = {  # what a new revision of a runbook changes: lowest, highest, step
    "heap": (2, 24, 2),
    "pause": (150, 900, 50),
    "pool": (20, 120, 4),
    "timeout": (4, 45, 1),
    "threads": (16, 200, 8),
    "drain": (20, 120, 5),
}
_LASTING = {
    "port": (8101, 9799, 1),
    "retention": (7, 90, 1),
    "hosts": (3, 12, 1),
    "token": (2, 72, 2),
    "rate": (60, 1200, 20),
    "batch": (50, 900, 25),
    "page": (100, 1000, 50),
    "cursor": (5, 60, 5),
}


def runbook_facts(tenant: Tenant, service: Service, revision: int) -> Facts:
    """The numbers of one revision of a runbook: what is revised differs from one revision to the next."""
    draws = tenant.draws.under(service.name)
    return {
        **lasting_facts(tenant, service),
        **{name: _revised(draws, name, revision) for name in _REVISED},
    }


def _revised(draws: Draws, name: str, revision: int) -> int:
    low, high, step = _REVISED[name]
    count = (high - low) // step + 1
    first, shift = draws.below(count, name), 1 + draws.below(count // 3, name, "shift")
    return low + step * ((first + revision * shift) % count)


def lasting_facts(tenant: Tenant, service: Service) -> Facts:
    """What no revision changes."""
    draws = tenant.draws.under(service.name)
    return {
        "tenant": tenant.name,
        **service.facts,
        **{name: draws.number(*bounds, name) for name, bounds in _LASTING.items()},
        "nightly": f"{draws.number(1, 4, 1, 'hour'):02d}:{draws.number(5, 55, 5, 'minute'):02d}",
    }


def runbook_dates(tenant: Tenant, service: Service, revision: int) -> tuple[datetime, datetime | None]:
    """From when until when a revision holds; the last one holds until further notice."""
    last = tenant.revisions[tenant.services.index(service)]
    end = runbook_dates(tenant, service, revision + 1)[0] if revision < last else None
    return _written(tenant, service, revision), end


def _written(tenant: Tenant, service: Service, revision: int) -> datetime:
    first_days = {1: datetime(2025, 2, 3, tzinfo=UTC), 2: datetime(2026, 2, 2, tzinfo=UTC), 3: NOW - timedelta(days=10)}
    spread = 8 if revision == 3 else 180
    days = tenant.draws.below(spread, service.name, "written", str(revision))
    return first_days[revision].replace(hour=0) + timedelta(days=days)


def error_codes(tenant: Tenant, service: Service) -> tuple[list[str], list[str]]:
    """Six codes that differ in few digits, and two that look like them and that nobody has written down."""
    digits = {name: 1 + tenant.draws.below(8, service.name, "digit", name) for name in "abcd"}
    digits |= {"e": digits["d"] % 8 + 1, "f": digits["c"] % 8 + 1}
    numbers = ("".join(str(digits.get(name, name)) for name in shape) for shape in _SHAPES)
    codes = list(dict.fromkeys(f"{service.prefix}-{number}" for number in numbers))
    return codes[:LISTED_CODES], codes[LISTED_CODES : LISTED_CODES + SPARE_CODES]


def incident_facts(tenant: Tenant) -> Facts:
    """What went wrong with the first service, under its first runbook, and which setting was to blame."""
    service, draws = tenant.services[0], tenant.draws.under("incident")
    setting = draws.one(_mended(tenant, service), "setting")
    day = runbook_dates(tenant, service, 2)[0] - timedelta(days=5 + draws.below(20, "day"))
    number = 1000 + 17 * tenant.place + draws.below(17, "number")
    return {
        "tenant": tenant.name,
        **service.facts,
        "incident": f"INC-{day.year}-{number}",
        "day": day.date().isoformat(),
        "due": (day + timedelta(days=40)).date().isoformat(),
        "minutes": draws.number(14, 240, 1, "minutes"),
        "affected": draws.number(300, 9000, 100, "affected"),
        "setting": phrases(tenant.language)["settings"][setting],
        "blamed": setting,
        "was": runbook_facts(tenant, service, 1)[setting],
    }


def _mended(tenant: Tenant, service: Service) -> list[str]:
    """The settings that the second runbook changed for the better: more of everything, a shorter timeout."""
    first, second = (runbook_facts(tenant, service, revision) for revision in (1, 2))
    more = [name for name in ("pool", "heap", "threads") if second[name] > first[name]]
    return [*more, *(["timeout"] if second["timeout"] < first["timeout"] else [])] or ["pool"]


def handbook_facts(tenant: Tenant) -> Facts:
    """What people on call have to know; the drain time is that of the current runbook."""
    service = tenant.services[0]
    return {
        **runbook_facts(tenant, service, tenant.revisions[0]),
        "shift": f"{tenant.draws.number(7, 11, 1, 'shift'):02d}:30",
        "ack": tenant.draws.number(4, 20, 1, "ack"),
        "vpn": f"oncall-{tenant.draws.one(('amber', 'cobalt', 'ivory', 'moss', 'rust'), 'vpn')}-{tenant.place + 11}",
    }


def owners_facts(tenant: Tenant) -> Facts:
    """The three services, each with its team, under the letters a, b and c."""
    facts: Facts = {"tenant": tenant.name}
    for letter, service in zip("abc", tenant.services, strict=True):
        names = ("service", "team", "channel", "minutes")
        facts |= {f"{name}_{letter}": service.facts[name] for name in names}
    return facts


def restricted_facts(tenant: Tenant) -> Facts:
    """What only one role may know."""
    kind, _ = tenant.restricted
    draws = tenant.draws.under("restricted")
    prices = {"contract": (12_000, 96_000, 500), "allowance": (180, 620, 10), "finding": (11, 90, 1)}
    return {
        "tenant": tenant.name,
        **tenant.services[1].facts,
        "supplier": draws.one(catalogue("tenants")["suppliers"], "supplier"),
        "finding": f"SEC-{300 + 7 * tenant.place + draws.below(7, 'number')}",
        "price": draws.number(*prices[kind], "price"),
        "weeks": draws.number(2, 16, 1, "weeks"),
    }


def notice_facts(tenant: Tenant) -> Facts:
    """A change that was announced a few days ago."""
    draws = tenant.draws.under("notice")
    published = NOW - timedelta(days=2 + draws.below(6, "published"))
    change = NOW + timedelta(days=5 + draws.below(20, "change"))
    freeze = NOW + timedelta(days=28 + draws.below(6, "freeze"))
    return {
        "tenant": tenant.name,
        **tenant.services[1].facts,
        "notice": f"CHG-{2200 + 3 * tenant.place + draws.below(3, 'number')}",
        "published": published.date().isoformat(),
        "change_day": change.date().isoformat(),
        "bundle": f"ca-{draws.number(101, 989, 1, 'bundle')}",
        "freeze_from": freeze.date().isoformat(),
        "freeze_to": (freeze + timedelta(days=9)).date().isoformat(),
    }


def ticket_facts(tenant: Tenant) -> Facts:
    """A job that stopped, and what helped."""
    draws = tenant.draws.under("ticket")
    words = ("export", "import", "invoice", "mirror", "reindex", "settle")
    return {
        "tenant": tenant.name,
        **tenant.services[2].facts,
        "ticket": f"SUP-{40_000 + 31 * tenant.place + draws.below(31, 'number')}",
        "job": f"{tenant.services[2].root}-{draws.one(words, 'job')}-{draws.number(2, 9, 1, 'job number')}",
        "wait": draws.number(10, 90, 5, "wait"),
    }
