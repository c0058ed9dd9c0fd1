// The core's half of the subjects of subagents.py.

// What the reader of YAML finds wrong is said in its own words.
const shortened = (text) => text.replace(/(YAML frontmatter parsing failed: )[^]*/, '$1');

export async function load_file(text, load) {
  const loader = await load('agents/agentLoader.js');
  try {
    const found = await loader.parseAgentMarkdown('/f.md', text);
    return { agents: found.map((each) => loader.markdownToAgentDefinition(each)) };
  } catch (error) {
    return { error: shortened(error.message) };
  }
}

export async function template({ text, inputs }, load) {
  const { templateString } = await load('agents/utils.js');
  try {
    return { text: templateString(text, inputs) };
  } catch (error) {
    return { error: error.message };
  }
}
