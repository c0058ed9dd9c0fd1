"""Reading shell command lines: for the tool that runs them and the policy that judges them."""
