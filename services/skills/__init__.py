"""Skills: folders of instructions that the model may call for."""
