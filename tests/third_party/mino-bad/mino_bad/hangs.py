"""Never gets to its end."""

while True:
    pass
