"""The contract: candidates in one order, score descending and unique ID ascending, and what it leaves open."""
