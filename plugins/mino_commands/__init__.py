"""The built-in slash commands and subcommands."""
