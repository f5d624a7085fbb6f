"""What mino costs, beside what it could cost at least and what others cost, in one run."""
