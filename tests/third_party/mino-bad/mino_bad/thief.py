"""Is named like a built-in plugin, or like another stranger; it is never imported."""

raise AssertionError("a plugin whose name is taken must not be imported")
