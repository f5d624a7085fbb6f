raise AssertionError("it was imported")
