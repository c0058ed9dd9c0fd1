// The core's half of the subjects of mcp.py.

export async function valid_name(name, load) {
  const { generateValidName } = await load('tools/mcp-tool.js');
  return generateValidName(name);
}
