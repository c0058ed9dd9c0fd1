"""Contents, errors and displays as the contract has them."""
