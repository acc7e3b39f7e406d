// Uses a server with the two clients of the protocol's makers: @modelcontextprotocol/client, which has no
// handshake, and @modelcontextprotocol/sdk, which has one. Both must be installed in the folder NODE_MODULES.
//   node clients.mjs NODE_MODULES STET VAULT
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [modules, stet, vault] = process.argv.slice(2);
const require = createRequire(join(modules, 'x.js'));
const modern = { ...require('@modelcontextprotocol/client'), ...require('@modelcontextprotocol/client/stdio') };
const old = { ...require('@modelcontextprotocol/sdk/client/index.js'),
	...require('@modelcontextprotocol/sdk/client/stdio.js') };

for (let i = 0; i < 60; i++) {
	const dir = join(vault, 'skills', `skill-${i}`);
	mkdirSync(dir, { recursive: true });
	writeFileSync(join(dir, 'SKILL.md'), `---\nname: skill-${i}\ndescription: Number ${i}.\n---\n\nStep ${i}.\n`);
}

async function use(name, sdk, options) {
	const client = new sdk.Client({ name, version: '1' }, options);
	const transport = new sdk.StdioClientTransport({ command: stet, args: ['mcp'], cwd: vault, stderr: 'inherit' });
	const strange = [];
	client.onerror = (err) => strange.push(err.message);
	await client.connect(transport);
	const done = [];
	const step = async (what, run) => { await run(); done.push(what); };

	await step('list', async () => {
		const { tools } = await client.listTools();
		assert.equal(tools.length, 8);
		assert.ok(tools.every((t) => t.annotations && !t.outputSchema));
	});
	await step('call', async () => {
		const saved = await client.callTool({ name: 'memory_save', arguments: { text: `${name} parks on level 3.` } });
		assert.equal(saved.structuredContent.done, 'saved');
		assert.equal(saved.structuredContent.vault, vault);
		const found = await client.callTool({ name: 'memory_search', arguments: { query: `where does ${name} park` } });
		assert.match(found.content[0].text, /level 3/);
	});
	await step('page', async () => {
		const seen = new Set();
		for (let cursor, n = 0; n === 0 || cursor; n++) {
			const page = await client.listResources(cursor ? { cursor } : {});
			page.resources.forEach((r) => seen.add(r.uri));
			cursor = page.nextCursor;
			assert.ok(n < 5);
		}
		assert.equal(seen.size, 63);
		assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
	});
	await step('read', async () => {
		const read = await client.readResource({ uri: 'stet://skill/skill-7' });
		assert.match(read.contents[0].text, /Step 7\./);
		await assert.rejects(client.readResource({ uri: 'stet://nothing' }), { code: -32602 });
	});
	await step('complete', async () => {
		const res = await client.complete({ ref: { type: 'ref/resource', uri: 'stet://skill/{name}' },
			argument: { name: 'name', value: 'skill-5' } });
		assert.equal(res.completion.values.length, 11);
	});
	await step('cancel', async () => {
		const stop = new AbortController();
		const call = client.callTool({ name: 'memory_save', arguments: { title: `Long ${name}`,
			text: 'The wall is long. '.repeat(50_000) } }, ...(options ? [] : [undefined]), { signal: stop.signal });
		setTimeout(() => stop.abort('enough'), 5);
		await call.then(() => {}, () => {});
		const log = await client.callTool({ name: 'history', arguments: { action: 'log', limit: 1 } });
		assert.equal(log.structuredContent.ok, true);
	});
	await step('error', async () => {
		const res = await client.callTool({ name: 'memory_search', arguments: { limit: 'many' } });
		assert.equal(res.isError, true);
		await client.callTool({ name: 'MEMORY_SEARCH', arguments: {} }).then(
			(r) => assert.equal(r.isError, true), (err) => assert.equal(err.code, -32602));
	});
	const began = Date.now();
	await client.close();
	assert.ok(Date.now() - began < 1900, 'the server did not end with its input');
	done.push('close');
	console.log(`${name}: ${done.join(', ')}`, strange.length ? strange : '');
}

await use('stateless', modern, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await use('handshake', old);
