"""What real systems ran, as something to simulate or to solve."""
