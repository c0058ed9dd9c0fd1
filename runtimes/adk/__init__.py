"""The loop on Google's Agent Development Kit: Runner and LlmAgent."""
