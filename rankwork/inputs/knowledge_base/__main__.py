"""Write the shipped files of the knowledge base again, from its generator."""

from pathlib import Path

from rankwork.inputs.knowledge_base.catalogue import DATA
from rankwork.inputs.knowledge_base.shipped import save

if __name__ == "__main__":
    save(Path(str(DATA)))
