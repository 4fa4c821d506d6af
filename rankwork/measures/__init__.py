"""Measures of a run against judgements, each with its exact range over every order that the scores allow."""
