"""One file a method: a numbered recipe, and the estimator that follows it."""
