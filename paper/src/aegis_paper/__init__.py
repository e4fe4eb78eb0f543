"""The paper's experiments, run again with aegisbo, and what they say."""
