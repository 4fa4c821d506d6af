"""The documents of the knowledge base, written from templates and facts, with the places of what can be asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from rankwork.inputs.documents import Document
from rankwork.inputs.knowledge_base.catalogue import catalogue, phrases
from rankwork.inputs.knowledge_base.drawing import Draws
from rankwork.inputs.knowledge_base.facts import (
    NOW,
    error_codes,
    handbook_facts,
    incident_facts,
    lasting_facts,
    notice_facts,
    owners_facts,
    restricted_facts,
    runbook_dates,
    runbook_facts,
    ticket_facts,
)
from rankwork.inputs.knowledge_base.marked_text import MarkedText, write
from rankwork.inputs.knowledge_base.tenants import Facts, Service, Tenant, tenants

PARAGRAPH = "\n\n"
FOUNDED = datetime(2025, 1, 6, tzinfo=UTC)


@dataclass(frozen=True)
class Written:
    """A document with the places of its passages and the facts that it was written from."""

    document: Document
    marks: dict[str, tuple[int, int]]
    facts: Facts

    def quote(self, mark: str) -> str:
        """The passage of this mark."""
        start, end = self.marks[mark]
        return self.document.text[start:end]


def all_documents(seed: int) -> tuple[Written, ...]:
    """The platform's documents, then those of each tenant; revisions of one source follow each other."""
    own = (written for tenant in tenants(seed) for written in _of_tenant(tenant))
    return (*_of_platform(seed), *own)


def _of_platform(seed: int) -> Iterator[Written]:
    platform = catalogue("platform")
    for row in catalogue("tenants")["services"]:
        facts = _delivered(seed, *row)
        text = write(PARAGRAPH.join(platform["manual"]["paragraphs"]), facts)
        title = platform["manual"]["title"].format_map(facts)
        yield _written(f"platform.manual.{row[0]}", title, text, facts, language="en")
    for guide in platform["guides"]:
        text = write(guide["text"], {})
        facts = {"point": guide["point"], "questions": guide["questions"]}
        yield _written(f"platform.guide.{guide['name']}", guide["title"], text, facts, language="en")


def _delivered(seed: int, name: str, prefix: str, root: str) -> Facts:
    draws = Draws(seed).under("maker", name)
    service = Service(name, prefix, root, "", 0)
    bounds = {"heap": (1, 3, 1), "pool": (6, 18, 2), "timeout": (46, 90, 1), "drain": (125, 180, 5)}
    return {**service.facts, **{fact: draws.number(*bound, fact) for fact, bound in bounds.items()}}


def _of_tenant(tenant: Tenant) -> Iterator[Written]:
    first, second, third = tenant.services
    for service, last in zip(tenant.services, tenant.revisions, strict=True):
        yield from (_runbook(tenant, service, revision) for revision in range(1, last + 1))
    yield _plain(tenant, "api", f"{second.name}.api", lasting_facts(tenant, second))
    yield from (_errors(tenant, service) for service in (first, third))
    yield _incident(tenant)
    yield _plain(tenant, "owners", "owners", owners_facts(tenant))
    handbook_from = runbook_dates(tenant, first, tenant.revisions[0])[0]
    yield _plain(tenant, "handbook", "handbook", handbook_facts(tenant), valid_from=handbook_from)
    yield _notes(tenant)
    kind, role = tenant.restricted
    yield _plain(tenant, kind, kind, restricted_facts(tenant), roles=frozenset({role}))
    notice = notice_facts(tenant)
    published = datetime.fromisoformat(notice["published"]).replace(tzinfo=UTC)
    yield _plain(tenant, "notice", "notice", notice, valid_from=published)
    if tenant.has_ticket:
        yield _plain(tenant, "ticket", "ticket", ticket_facts(tenant), valid_from=NOW - timedelta(days=40))


def _runbook(tenant: Tenant, service: Service, revision: int) -> Written:
    valid_from, valid_until = runbook_dates(tenant, service, revision)
    facts = {**runbook_facts(tenant, service, revision), "reviewed": valid_from.date().isoformat()}
    source = f"{service.name}.runbook"
    return _plain(tenant, "runbook", source, facts, revision=revision, valid_from=valid_from, valid_until=valid_until)


def _notes(tenant: Tenant) -> Written:
    """A page that somebody copied from the last but one revision of a runbook: it still holds, and it is wrong."""
    first, revision = tenant.services[0], tenant.revisions[0] - 1
    copied = runbook_dates(tenant, first, revision)[0] + timedelta(days=9)
    facts = {**runbook_facts(tenant, first, revision), "copied": copied.date().isoformat()}
    return _plain(tenant, "notes", "notes", facts, valid_from=copied)


def _errors(tenant: Tenant, service: Service) -> Written:
    """Each code in a line of its own, with a cause and a remedy that belong together."""
    template = phrases(tenant.language)["documents"]["errors"]
    facts: Facts = {**lasting_facts(tenant, service), "codes": {}}
    draws = tenant.draws.under(service.name, "errors")
    causes, first, lines = template["causes"], draws.below(len(template["causes"]), "first"), []
    for at, code in enumerate(error_codes(tenant, service)[0]):
        place = (first + at) % len(causes)
        facts["codes"][code] = {"cause": causes[place], "remedy": template["remedies"][place]}
        lines.append(template["code"].format(mark=f"code_{at}", code=code, **facts["codes"][code]))
    text = write(PARAGRAPH.join([draws.one(template["intro"], "intro"), *lines]), facts)
    title = draws.one(template["title"], "title").format_map(facts)
    return _written(f"{tenant.slug}.{service.name}.errors", title, text, facts, tenant=tenant)


def _incident(tenant: Tenant) -> Written:
    facts = incident_facts(tenant)
    facts["cause"] = phrases(tenant.language)["documents"]["incident"]["causes"][facts["blamed"]].format_map(facts)
    day = datetime.fromisoformat(facts["day"]).replace(tzinfo=UTC)
    return _plain(tenant, "incident", "incident", facts, valid_from=day + timedelta(days=2))


def _plain(tenant: Tenant, kind: str, source: str, facts: Facts, **options: Any) -> Written:
    """A document of which every paragraph, and the title, is one of a few phrasings: the same in every revision."""
    template = phrases(tenant.language)["documents"][kind]
    draws = tenant.draws.under(source)
    text = write(PARAGRAPH.join(_chosen(template["paragraphs"], draws)), facts)
    title = draws.one(template["title"], "title").format_map(facts)
    return _written(f"{tenant.slug}.{source}", title, text, facts, tenant=tenant, **options)


def _chosen(paragraphs: Sequence[Sequence[str]], draws: Draws) -> list[str]:
    return [draws.one(phrasings, "paragraph", str(at)) for at, phrasings in enumerate(paragraphs)]


def _written(
    source: str,
    title: str,
    text: MarkedText,
    facts: Facts,
    *,
    tenant: Tenant | None = None,
    language: str = "",
    revision: int = 1,
    roles: frozenset[str] = frozenset(),
    valid_from: datetime = FOUNDED,
    valid_until: datetime | None = None,
) -> Written:
    document = Document(
        id=f"{source}@r{revision}",
        text=text.text,
        title=title,
        source=source,
        revision=f"r{revision}",
        end=len(text.text),
        tenant=tenant.slug if tenant else "",
        roles=roles,
        valid_from=valid_from,
        valid_until=valid_until,
        language=tenant.language if tenant else language,
    )
    return Written(document, text.marks, facts)
