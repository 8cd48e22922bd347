"""What `make bench` measures: CPU seconds and peak memory, beside each other, against stated limits."""
