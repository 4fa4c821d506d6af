"""From a query to its context: routes, their fusion, what comes after."""
