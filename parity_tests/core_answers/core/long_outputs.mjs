// The core's half of the subjects of long_outputs.py.

export async function shell_preview(response, load) {
  const { ToolOutputMaskingService } = await load('context/toolOutputMaskingService.js');
  return new ToolOutputMaskingService().formatShellPreview(response);
}

export async function cut([text, target], load) {
  const { truncateProportionally, TOOL_TRUNCATION_PREFIX } = await load('context/truncation.js');
  return truncateProportionally(text, target, TOOL_TRUNCATION_PREFIX).toWellFormed();
}
