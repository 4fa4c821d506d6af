"""An enterprise knowledge base in small: fifty invented tenants, their documents and the questions of their people.

Runbooks of Java services in up to three revisions, internal APIs, error codes that differ in one digit, incident
reviews, change notices, on-call handbooks, tickets that hold injected instructions, and documents that only one role
may read; a platform's manuals and guides that everybody reads. English, Chinese, German and Spanish. Every organisation
and fact is made up, by a seeded generator over templates, and every case says so (`origin` synthetic): it exercises
all the slices, and it is no sample of anybody's traffic.

The files are shipped, to be read and searched by people; a test holds them to the generator byte for byte. This
writes them again: `python -m rankwork.inputs.knowledge_base`.
"""

from rankwork.inputs.knowledge_base.answers import AnswerParts, answer_traces, answered, labelled_answers
from rankwork.inputs.knowledge_base.shipped import SEED, generated, injections, knowledge_base, save

__all__ = [
    "SEED",
    "AnswerParts",
    "answer_traces",
    "answered",
    "generated",
    "injections",
    "knowledge_base",
    "labelled_answers",
    "save",
]
