"""Running tournaments: the file that describes one, its store, bot processes, the runner, exports."""
