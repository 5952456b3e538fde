// Every method of the official client, unchanged, on a live server: node client.mjs ADDRESS
// Prints, as JSON, the methods that the client has and those that were called here.
import assert from "node:assert/strict";
import { HindsightClient, createClient, sdk } from "@vectorize-io/hindsight-client";

const address = process.argv[2];
const called = new Set();
const client = new Proxy(new HindsightClient({ baseUrl: address }), {
  get(target, name) {
    const member = target[name];
    if (typeof member !== "function") return member;
    return (...given) => {
      called.add(name);
      return member.apply(target, given);
    };
  },
});
const lowLevel = createClient({ baseUrl: address });
const run = `${process.pid}-${Math.random().toString(36).slice(2)}`;
const WORK = "Ada Lovelace works at Acme in London.";

async function operation(bankId, operationId) {
  const { data } = await sdk.getOperationStatus({
    client: lowLevel,
    path: { bank_id: bankId, operation_id: operationId },
  });
  return data;
}

// The server looks for work at least every second; nothing here takes longer than a few of them.
async function ended(bankId, operationId) {
  for (let looks = 0; looks < 400; looks += 1) {
    const told = await operation(bankId, operationId);
    if (["completed", "failed", "cancelled"].includes(told.status)) return told;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`operation ${operationId} did not end`);
}

async function refused(promise, status) {
  await assert.rejects(promise, (error) => {
    assert.equal(error.statusCode, status, String(error));
    return true;
  });
}

async function banks() {
  const bank = `node ${run}: 100%?#`;
  const created = await client.createBank(bank, {
    name: "Ada",
    reflectMission: "Know Ada.",
    disposition: { skepticism: 5, literalism: 3, empathy: 1 },
    retainChunkSize: 2000,
  });
  assert.deepEqual([created.bank_id, created.name, created.mission], [bank, "Ada", "Know Ada."]);
  assert.equal(created.disposition.skepticism, 5);
  assert.equal((await client.setMission(bank, "Know Bob.")).mission, "Know Bob.");
  const config = await client.getBankConfig(bank);
  assert.equal(config.config.reflect_mission, "Know Bob.");
  assert.equal(config.overrides.retain_chunk_size, 2000);
  const changed = await client.updateBankConfig(bank, { retainChunkSize: 500, dispositionEmpathy: 4 });
  assert.deepEqual([changed.overrides.retain_chunk_size, changed.overrides.disposition_empathy], [500, 4]);
  assert.deepEqual((await client.resetBankConfig(bank)).overrides, {});
  await refused(client.getBankProfile(bank), 410);
  await client.deleteBank(bank);
  await refused(client.getBankConfig(bank), 404);
  assert.equal((await client.getVersion()).api_version, "1.1.0");
}

async function directives(bank) {
  const cite = await client.createDirective(bank, "Cite", "Name sources.", { priority: 5, tags: ["press"] });
  assert.deepEqual([cite.bank_id, cite.priority, cite.is_active, cite.tags], [bank, 5, true, ["press"]]);
  assert.deepEqual((await client.listDirectives(bank, { tags: ["press"] })).items.map((each) => each.id), [cite.id]);
  const changed = await client.updateDirective(bank, cite.id, { content: "Name all.", isActive: false });
  assert.deepEqual([changed.content, changed.is_active], ["Name all.", false]);
  assert.deepEqual(await client.getDirective(bank, cite.id), changed);
  await client.deleteDirective(bank, cite.id);
  await refused(client.getDirective(bank, cite.id), 404);
}

async function memories(bank) {
  const one = await client.retain(bank, WORK, {
    timestamp: new Date("2024-03-01T10:00:00Z"),
    context: "at work",
    documentId: "d1",
    metadata: { source: "mail" },
    entities: [{ text: "Zed", type: "PERSON" }],
    tags: ["ada"],
  });
  assert.deepEqual([one.success, one.items_count, one.async], [true, 1, false]);
  const batch = await client.retainBatch(bank, [{ content: "Bob likes tea." }, { content: "Eve runs.", tags: ["eve"] }], {
    documentId: "d2",
    documentTags: ["others"],
  });
  assert.equal(batch.items_count, 2);
  const later = await client.retain(bank, "Fay bakes bread.", { async: true, documentId: "d3" });
  assert.equal((await ended(bank, later.operation_id)).status, "completed");
  const files = await client.retainFiles(bank, [new File(["Gil swims."], "gil.txt", { type: "text/plain" })], {
    filesMetadata: [{ document_id: "gil", tags: ["gil"] }],
  });
  assert.equal((await ended(bank, files.operation_ids[0])).status, "completed");

  const found = await client.recall(bank, "Where does Ada Lovelace work?", {
    types: ["world"],
    maxTokens: 500,
    budget: "low",
    trace: true,
    queryTimestamp: "2024-05-01T00:00:00Z",
    includeEntities: true,
    includeChunks: true,
    includeSourceFacts: true,
    tags: ["ada"],
    tagsMatch: "all_strict",
    minScores: { semantic: 0.1 },
  });
  assert.deepEqual(found.results.map((each) => each.text), [WORK]);
  assert.equal(found.chunks[found.results[0].chunk_id].text, WORK);
  assert.ok("Ada Lovelace" in found.entities && found.trace);
  const grouped = await client.recall(bank, "tea", { tagGroups: [{ not: { tags: ["ada"], match: "any_strict" } }] });
  assert.ok(grouped.results.every((each) => !each.tags.includes("ada")));

  const answer = await client.reflect(bank, "Where does Ada Lovelace work?", {
    tags: ["ada"],
    tagsMatch: "all_strict",
    factTypes: ["world"],
    excludeMentalModels: true,
    includeFacts: true,
    includeToolCalls: true,
  });
  assert.ok(answer.text.includes("Acme"));
  assert.deepEqual(answer.based_on.memories.map((each) => each.text), [WORK]);
  assert.ok(answer.trace.tool_calls.length > 0);

  const listed = await client.listMemories(bank, { type: "world", q: "acme", state: "valid", documentId: "d1", limit: 5 });
  assert.deepEqual([listed.total, listed.items[0].text, listed.items[0].context], [1, WORK, "at work"]);
}

async function documents(bank) {
  assert.deepEqual((await client.listDocuments(bank, { limit: 10 })).items.map((each) => each.id).sort(), ["d1", "d2", "d3", "gil"]);
  assert.equal((await client.getDocument(bank, "d1")).original_text, WORK);
  assert.equal(await client.getDocument(bank, "none"), null);
  assert.equal((await client.updateDocument(bank, "d3", { tags: ["fay"] })).success, true);
  assert.deepEqual((await client.getDocument(bank, "d3")).tags, ["fay"]);
  await client.deleteDocument(bank, "d3");
  assert.equal(await client.getDocument(bank, "d3"), null);
}

async function mentalModels(bank) {
  const created = await client.createMentalModel(bank, "Ada", "What does Ada work on, and where?", {
    id: "ada",
    tags: ["ada"],
    maxTokens: 1024,
    trigger: { refreshAfterConsolidation: false, tagsMatch: "any_strict" },
  });
  assert.equal(created.mental_model_id, "ada");
  const refresh = await ended(bank, created.operation_id);
  assert.deepEqual([refresh.status, refresh.details.outcome], ["completed", "content_written"]);
  const model = await client.getMentalModel(bank, "ada");
  assert.ok(model.content.includes("Acme") && model.reflect_response.based_on.world.length === 1);
  assert.equal(model.trigger.tags_match, "any_strict");
  const listed = await client.listMentalModels(bank, { tags: ["ada"], tagsMatch: "all", detail: "content", limit: 5 });
  assert.deepEqual(listed.items.map((each) => each.content), [model.content]);
  const changed = await client.updateMentalModel(bank, "ada", { name: "Ada L.", maxTokens: 512 });
  assert.deepEqual([changed.name, changed.max_tokens, changed.content], ["Ada L.", 512, model.content]);
  const preview = await client.dryRunRefreshMentalModel(bank, "ada");
  assert.deepEqual([preview.outcome, preview.would_persist], ["content_written", true], "its name is its heading");
  const queued = await client.refreshMentalModel(bank, "ada");
  assert.equal(queued.status, "queued");
  await ended(bank, queued.operation_id);
  const second = await client.getMentalModel(bank, "ada", { detail: "content" });
  assert.equal((await client.clearMentalModel(bank, "ada")).content, "");
  const history = await client.getMentalModelHistory(bank, "ada");
  assert.deepEqual(history.slice(0, 2).map((each) => each.previous_content), [second.content, model.content]);
  await client.deleteMentalModel(bank, "ada");
  await refused(client.getMentalModel(bank, "ada"), 404);
}

async function knowledge(bank) {
  const folder = await client.createKnowledgeFolder(bank, "People");
  assert.equal(folder.kind, "folder");
  const page = await client.createKnowledgePage(bank, "Ada", "What does Ada work on?", {
    parentId: folder.id,
    tags: ["ada"],
    maxTokens: 1024,
    trigger: { mode: "delta", factTypes: ["world"] },
  });
  if (page.operation_id) await ended(bank, page.operation_id);
  const { roots } = await client.getKnowledgeBaseTree(bank);
  assert.deepEqual(roots.map((each) => [each.name, each.children.map((child) => child.id)]), [["People", [page.page_id]]]);
  assert.ok((await client.getKnowledgePage(bank, page.page_id)).body.includes("Acme"));
  const found = await client.searchKnowledgeBase(bank, "Acme", { limit: 5 });
  assert.equal(found.results[0].id, page.page_id);
  const moved = await client.updateKnowledgeNode(bank, page.page_id, { name: "Ada L.", parentId: null });
  assert.deepEqual([moved.name, moved.parent_id ?? null], ["Ada L.", null]);
  const { files } = await client.exportKnowledgeBase(bank);
  assert.ok(files.some((each) => each.path === "index.md"));
  await client.deleteKnowledgeNode(bank, folder.id);
  await client.deleteKnowledgeNode(bank, page.page_id);
  assert.deepEqual((await client.getKnowledgeBaseTree(bank)).roots, []);
}

async function operations(bank) {
  const { data: listed } = await sdk.listOperations({ client: lowLevel, path: { bank_id: bank }, query: { limit: 5 } });
  assert.ok(listed.total > 0 && listed.operations.length > 0);
  const chosen = listed.operations[0].id;
  const path = { bank_id: bank, operation_id: chosen };
  const again = await sdk.retryOperation({ client: lowLevel, path });
  assert.equal(again.response.status, 409, "one that completed is not done again");
  const cancelled = await sdk.cancelOperation({ client: lowLevel, path });
  assert.equal(cancelled.response.status, 409);
}

const bank = `node-${run}`;
await banks();
await client.createBank(bank);
await directives(bank);
await memories(bank);
await documents(bank);
await mentalModels(bank);
await operations(bank);
await knowledge(bank);
await client.deleteBank(bank);

const methods = Object.getOwnPropertyNames(HindsightClient.prototype).filter(
  (name) => !["constructor", "validateResponse"].includes(name),
);
console.log(JSON.stringify({ methods, called: [...called] }));
