// Generated SPARQL queries over real data, answered by us and by oxigraph.
//
//   node queries.mjs DATA COUNT SEED ENDPOINT...
//
// DATA is N-Quads that every ENDPOINT (our /sparql) has, too. Queries are built from quads that are
// there, so that most of them have answers. Rows are compared as bags, ordered answers as lists.
// Prints each query that is answered differently, and counts; exit code 1 when there is any.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const require = createRequire(process.env.NODE_PATH + '/');
const oxigraph = require('oxigraph');
const [dataFile, count, seed, ...endpoints] = process.argv.slice(2);
const MOST_ROWS = 50000;

const store = new oxigraph.Store();
store.load(readFileSync(dataFile, 'utf8'), { format: 'application/n-quads' });

// ---- chance, the same for the same seed (mulberry32) ----

let state = Number(seed) >>> 0;
function random() {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const upTo = (n) => Math.floor(random() * n);
const pick = (list) => list[upTo(list.length)];
const chance = (p) => random() < p;

// ---- what there is ----

const quads = store.match().filter((q) => q.subject.termType === 'NamedNode');
const bySubject = new Map();
const predicateCounts = new Map();
for (const quad of quads) {
    const key = quad.subject.value;
    if (!bySubject.has(key)) bySubject.set(key, []);
    bySubject.get(key).push(quad);
    predicateCounts.set(quad.predicate.value, (predicateCounts.get(quad.predicate.value) || 0) + 1);
}
const rare = [...predicateCounts].filter(([, n]) => n < 600).map(([p]) => p);
const numbers = quads.filter((q) => q.object.termType === 'Literal' && /^-?[0-9.]+$/.test(q.object.value));
const strings = quads.filter((q) => q.object.termType === 'Literal' && /[a-z]{4}/.test(q.object.value));
const links = quads.filter((q) => q.object.termType === 'NamedNode' && bySubject.has(q.object.value));

const term = (t) => t.toString();
const iri = (value) => `<${value}>`;
const usable = (t) => t.termType !== 'BlankNode' && term(t).length < 200;

// A star around one subject: patterns that this subject matches.
function star(variable, size, fixed) {
    const quad = pick(quads);
    const mine = bySubject.get(quad.subject.value);
    const patterns = [];
    const variables = [variable];
    for (let i = 0; i < size; i++) {
        const q = pick(mine);
        if (usable(q.object) && (fixed || chance(0.3))) {
            patterns.push(`${variable} ${iri(q.predicate.value)} ${term(q.object)}`);
        } else {
            const object = `${variable}o${i}`;
            variables.push(object);
            patterns.push(`${variable} ${iri(q.predicate.value)} ${object}`);
        }
    }
    return { patterns, variables, quad };
}
// Two stars, joined by a link that is there.
function chain() {
    const link = pick(links);
    const next = pick(bySubject.get(link.object.value));
    const patterns = [`?a ${iri(link.predicate.value)} ?b`, `?b ${iri(next.predicate.value)} ?c`];
    if (chance(0.5) && usable(next.object)) patterns.push(`?b ${iri(next.predicate.value)} ${term(next.object)}`);
    if (chance(0.5)) patterns.push(`?a ${iri(pick(bySubject.get(link.subject.value)).predicate.value)} ?d`);
    return { patterns, variables: ['?a', '?b', '?c'] };
}

const word = () => (pick(strings).object.value.match(/[a-z]{4,}/g) || ['coin'])[0];
const filters = [
    (v) => `isIRI(${v})`,
    (v) => `isLiteral(${v}) && STRLEN(STR(${v})) > ${upTo(40)}`,
    (v) => `LANG(${v}) = "${pick(['en', 'de', 'fr', ''])}"`,
    (v) => `CONTAINS(LCASE(STR(${v})), "${word().slice(0, 4)}")`,
    (v) => `REGEX(STR(${v}), "^[A-M].*${word().slice(0, 2)}", "i")`,
    (v) => `STRSTARTS(STR(${v}), "http://")`,
    (v) => `DATATYPE(${v}) = <http://www.w3.org/2001/XMLSchema#${pick(['string', 'integer', 'decimal', 'gYear', 'date'])}>`,
    (v) => `${v} > ${upTo(100) - 50}`,
    (v) => `!(${v} < ${upTo(100)} )`,
    (v) => `COALESCE(xsd:integer(STR(${v})), 0) >= ${upTo(50)}`,
    (v) => `LANGMATCHES(LANG(${v}), "*")`,
    (v) => `${v} IN (${term(pick(quads.filter((q) => usable(q.object)).slice(0, 500)).object)}, ${upTo(10)})`,
    (v) => `BOUND(${v}) || ${v} = 1`,
    (v) => `SUBSTR(STR(${v}), 1, ${1 + upTo(12)}) != UCASE(STR(${v}))`,
    (v) => `EXISTS { ${v} ?exists ?there }`,
    (v) => `NOT EXISTS { ?other <http://www.w3.org/2004/02/skos/core#broader> ${v} }`,
];
const computed = [
    (v) => `STRLEN(STR(${v}))`, (v) => `UCASE(STR(${v}))`, (v) => `IF(isIRI(${v}), "iri", LANG(${v}))`,
    (v) => `CONCAT(STR(${v}), "|", LANG(${v}))`, (v) => `xsd:double(STR(${v})) * 2`,
    (v) => `STRAFTER(STR(${v}), "/")`, (v) => `REPLACE(STR(${v}), "[aeiou]", "")`,
    (v) => `ENCODE_FOR_URI(STR(${v}))`, (v) => `xsd:integer(STR(${v})) + 1`, (v) => `ABS(xsd:decimal(STR(${v})))`,
    (v) => `STRDT(STR(${v}), <http://www.w3.org/2001/XMLSchema#string>)`, (v) => `COALESCE(${v} / 2, "none")`,
    (v) => `MD5(STR(${v}))`, (v) => `STRBEFORE(STR(${v}), "o")`, (v) => `YEAR(${v})`,
];
const paths = [
    (p, q) => `${p}/${q}`, (p) => `${p}+`, (p) => `${p}*`, (p) => `${p}?`, (p, q) => `${p}|${q}`,
    (p) => `^${p}`, (p, q) => `(${p}|^${q})/${p}`, (p, q) => `!(${p}|${q})`, (p) => `${p}/${p}*`,
];

const join = (patterns) => patterns.join(' . ');
const inGraph = (body) => (chance(0.4) ? `GRAPH ?g { ${body} }` : body);

// Two or three aggregates of some of the variables.
function aggregates(variables) {
    const list = [(v) => `COUNT(${v})`, () => 'COUNT(*)', (v) => `COUNT(DISTINCT ${v})`, (v) => `SUM(STRLEN(STR(${v})))`,
        (v) => `AVG(STRLEN(STR(${v})))`, (v) => `MIN(STR(${v}))`, (v) => `MAX(STRLEN(STR(${v})))`, (v) => `SUM(DISTINCT STRLEN(STR(${v})))`];
    return Array.from({ length: 1 + upTo(3) }, (_, i) => `(${pick(list)(pick(variables))} AS ?n${i})`).join(' ');
}
// A star within each graph, with something beside it.
function graphStar(graph) {
    const { patterns, variables, quad } = star('?s', 1 + upTo(2));
    const other = iri(pick(bySubject.get(quad.subject.value)).predicate.value);
    const beside = pick(['', '', `FILTER(${pick(filters)(pick(variables))})`, `OPTIONAL { ?s ${other} ?x }`, `MINUS { ?s ${other} ?y }`,
        `FILTER NOT EXISTS { ?s ${other} ?y }`, `BIND(STR(${pick(variables)}) AS ?x)`]);
    return { body: `GRAPH ${graph} { ${join(patterns)} ${beside} }`, variables };
}
// All variables are keys, so that the first rows are always the same.
function firstRows(variables, body) {
    const keys = [...variables].sort(() => random() - 0.5).map((v) => (chance(0.4) ? `DESC(STR(${v}))` : `STR(${v})`));
    return `SELECT ${variables.map((v, i) => `(STR(${v}) AS ?k${i})`).join(' ')} { ${body} }
        ORDER BY ${keys.join(' ')} LIMIT ${1 + upTo(30)} OFFSET ${upTo(5)}`;
}

const shapes = [
    function basic() {
        const { patterns, variables } = chance(0.5) ? star('?s', 1 + upTo(4)) : chain();
        return `SELECT DISTINCT ${variables.join(' ')} { ${join(patterns)} }`;
    },
    function graph() {
        const { patterns, variables } = chance(0.5) ? star('?s', 1 + upTo(3)) : chain();
        return `SELECT ?g ${variables.join(' ')} { GRAPH ?g { ${join(patterns)} } }`;
    },
    function filtered() {
        const { patterns, variables } = star('?s', 1 + upTo(3));
        return `SELECT DISTINCT ${variables.join(' ')} { ${join(patterns)} FILTER(${pick(filters)(pick(variables))})
            ${chance(0.3) ? `FILTER(${pick(filters)(pick(variables))})` : ''} }`;
    },
    function optional() {
        const left = star('?s', 1 + upTo(2), true);
        const mine = bySubject.get(left.quad.subject.value);
        const filter = chance(0.4) ? `FILTER(${pick(filters)('?x')})` : '';
        return `SELECT DISTINCT ?s ?x ?y { ${join(left.patterns)} OPTIONAL { ?s ${iri(pick(mine).predicate.value)} ?x ${filter} }
            ${chance(0.5) ? `OPTIONAL { ?x ${iri(pick(rare))} ?y }` : ''} }`;
    },
    function union() {
        const a = star('?s', 1 + upTo(2)), b = star('?s', 1 + upTo(2), true);
        return `SELECT DISTINCT ?s { { ${join(a.patterns)} } UNION { ${join(b.patterns)} } }`;
    },
    function minus() {
        const a = star('?s', 1 + upTo(2)), b = star('?s', 1);
        return `SELECT DISTINCT ${a.variables.join(' ')} { ${join(a.patterns)} MINUS { ${join(b.patterns)} } }`;
    },
    function bind() {
        const { patterns, variables } = star('?s', 1 + upTo(2));
        return `SELECT DISTINCT ?s ?v { ${join(patterns)} BIND(${pick(computed)(pick(variables))} AS ?v) }`;
    },
    function values() {
        const some = Array.from({ length: 1 + upTo(6) }, () => pick(quads));
        const list = some.map((q) => `(${iri(q.subject.value)} ${chance(0.2) ? 'UNDEF' : iri(q.predicate.value)})`);
        return `SELECT DISTINCT ?s ?p ?o { VALUES (?s ?p) { ${list.join(' ')} } ?s ?p ?o }`;
    },
    function aggregate() {
        const { patterns, variables } = star('?s', 2);
        const group = pick(variables);
        const of = pick(variables);
        const what = pick([`COUNT(${of})`, `COUNT(DISTINCT ${of})`, `COUNT(*)`, `MIN(STRLEN(STR(${of})))`, `MAX(STR(${of}))`,
            `SUM(STRLEN(STR(${of})))`, `AVG(STRLEN(STR(${of})))`]);
        return `SELECT ${group} (${what} AS ?n) { { SELECT DISTINCT * { ${join(patterns)} } } } GROUP BY ${group}
            ${chance(0.3) ? `HAVING(COUNT(*) > ${upTo(3)})` : ''}`;
    },
    function countGraphs() {
        const { patterns } = star('?s', 1 + upTo(2));
        return `SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ${join(patterns)} } } GROUP BY ?g`;
    },
    function numeric() {
        const q = pick(numbers);
        return `SELECT (SUM(?n) AS ?sum) (MIN(?n) AS ?min) (MAX(?n) AS ?max) (COUNT(?n) AS ?count) {
            SELECT DISTINCT ?s ?n { ?s ${iri(q.predicate.value)} ?o BIND(xsd:integer(?o) AS ?n) FILTER(BOUND(?n)) } }`;
    },
    function subquery() {
        const inner = star('?s', 1, true), outer = bySubject.get(inner.quad.subject.value);
        return `SELECT DISTINCT ?s ?o { { SELECT DISTINCT ?s { ${join(inner.patterns)} } } ?s ${iri(pick(outer).predicate.value)} ?o }`;
    },
    function path() {
        const link = pick(links);
        const p = iri(link.predicate.value), q = iri(pick(bySubject.get(link.object.value)).predicate.value);
        const made = pick(paths)(p, q);
        return chance(0.7) ? `SELECT DISTINCT ?x { ${iri(link.subject.value)} ${made} ?x }`
            : `SELECT DISTINCT ?x { ?x ${made} ${iri(link.object.value)} }`;
    },
    function ordered() {
        const { patterns, variables } = star('?s', 1 + upTo(2));
        const keys = [...variables].sort(() => random() - 0.5).map((v) => (chance(0.4) ? `DESC(STR(${v}))` : `STR(${v})`));
        return `SELECT DISTINCT ${variables.map((v, i) => `(STR(${v}) AS ?k${i})`).join(' ')} { ${join(patterns)} }
            ORDER BY ${keys.join(' ')} LIMIT ${1 + upTo(30)} OFFSET ${upTo(5)}`;
    },
    function ask() {
        const { patterns } = star('?s', 1 + upTo(3), chance(0.5));
        return `ASK { ${inGraph(join(patterns))} ${chance(0.3) ? `FILTER(${pick(filters)('?s')})` : ''} }`;
    },
    function construct() {
        const { patterns, variables } = star('?s', 1 + upTo(2));
        return `CONSTRUCT { ?s <urn:made> ${pick(variables)} } { ${join(patterns)} }`;
    },
    function named() {
        const q = pick(quads);
        return `SELECT ?p ?o { GRAPH ${iri(q.graph.value)} { ${iri(q.subject.value)} ?p ?o } }`;
    },
    function from() {
        const q = pick(quads);
        return `SELECT ?s ?o FROM ${iri(q.graph.value)} { ?s ${iri(q.predicate.value)} ?o }`;
    },
    // What partitions may evaluate each for itself, and what they may not.
    function groupGraphs() {
        const { body, variables } = graphStar('?g');
        const key = pick(['', '?g', ...variables]);
        return `SELECT ${key} ${aggregates(variables)} { ${body} } ${key ? `GROUP BY ${key}` : ''}
            ${chance(0.3) ? `HAVING(COUNT(*) > ${upTo(3)})` : ''}`;
    },
    function groupComputed() {
        const { body, variables } = graphStar('?g');
        return `SELECT ?k ${aggregates(variables)} { ${body} } GROUP BY (${pick(computed)(pick(variables))} AS ?k)`;
    },
    function groupUnion() {
        const { patterns, variables } = star('?s', chance(0.6) ? 1 : 2);
        const key = pick(['', ...variables]);
        return `SELECT ${key} ${aggregates(variables)} { ${join(patterns)} } ${key ? `GROUP BY ${key}` : ''}`;
    },
    function countAll() {
        const places = ['?s', '?p', '?o'];
        const key = pick(['', ...places]);
        return `SELECT ${key} ${aggregates(places)} { ?s ?p ?o ${chance(0.4) ? `FILTER(${pick(filters)('?o')})` : ''} }
            ${key ? `GROUP BY ${key}` : ''}`;
    },
    function countOptional() {
        const left = star('?s', 1 + upTo(2)), other = iri(pick(bySubject.get(left.quad.subject.value)).predicate.value);
        const body = `${join(left.patterns)} OPTIONAL { ?s ${other} ?x }`;
        return `SELECT (COUNT(?x) AS ?n) (COUNT(*) AS ?m) { ${chance(0.5) ? `GRAPH ?g { ${body} }` : body} }`;
    },
    function countChain() {
        const { patterns, variables } = chain();
        return `SELECT ${aggregates(variables)} { ${join(patterns)} }`;
    },
    function topGraphs() {
        const { body, variables } = graphStar('?g');
        return firstRows(['?g', ...variables], body);
    },
    function topUnion() {
        const { patterns, variables } = star('?s', chance(0.6) ? 1 : 2);
        return firstRows(variables, join(patterns));
    },
    function limitGraphs() {
        const { body, variables } = graphStar('?g');
        return `SELECT ?g ${variables.join(' ')} { ${body} } LIMIT ${1 + upTo(40)}`;
    },
    function limitOptional() {
        const left = star('?s', 1 + upTo(2)), mine = bySubject.get(left.quad.subject.value);
        return `SELECT * { ${join(left.patterns)} OPTIONAL { ?s ${iri(pick(mine).predicate.value)} ?x }
            ${chance(0.5) ? `OPTIONAL { ?x ${iri(pick(rare))} ?y }` : ''} } LIMIT ${1 + upTo(40)}`;
    },
    function limitDistinct() {
        const { patterns, variables } = star('?s', 1 + upTo(2));
        return `SELECT DISTINCT ${pick(variables)} { ${inGraph(join(patterns))} } LIMIT ${1 + upTo(20)}`;
    },
    function limitChain() {
        const { patterns, variables } = chain();
        return `SELECT ${variables.join(' ')} { ${join(patterns)} } LIMIT ${1 + upTo(40)}`;
    },
    function distinctFiltered() {
        const places = ['?s', '?p', '?o'];
        return `SELECT DISTINCT ${pick(['?s', '?p ?o', '?o', '?s ?p', '?p'])} { ?s ?p ?o FILTER(${pick(filters)(pick(places))}) }`;
    },
    function apartAndTogether() {
        const a = star('?s', 1 + upTo(2)), b = star('?s', 1, true);
        return `SELECT ?g ?s { GRAPH ?g { ${join(a.patterns)} } ${pick(['', 'OPTIONAL', 'MINUS'])} { ${pick(['GRAPH ?g', 'GRAPH ?h', ''])} { ${join(b.patterns)} } } }`;
    },
    function exists() {
        const a = star('?s', 1, true), b = star('?s', 1);
        return `SELECT DISTINCT ?s { ${join(a.patterns)} FILTER ${chance(0.5) ? 'NOT ' : ''}EXISTS { ${join(b.patterns)} } }`;
    },
];

// ---- answers in one form ----

const numericType = /#(integer|decimal|double|float|int|long|short|byte|nonNegativeInteger|positiveInteger)$/;
function normal(kind, value, language, datatype) {
    if (kind === 'bnode') return '_:';
    if (kind === 'uri') return `<${value}>`;
    if (language) return JSON.stringify(value) + '@' + language.toLowerCase();
    if (datatype && numericType.test(datatype)) return Number(Number(value).toPrecision(9)) + '^number';
    return JSON.stringify(value) + (datatype && !datatype.endsWith('#string') ? '^^' + datatype : '');
}
const kinds = { NamedNode: 'uri', BlankNode: 'bnode', Literal: 'literal' };
const ofTerm = (t) => normal(kinds[t.termType], t.value, t.language, t.datatype?.value);
const row = (entries) => entries.map(([k, v]) => `${k}=${v}`).sort().join(' ');

function theirs(query) {
    const result = store.query(query, { use_default_graph_as_union: !/ FROM </.test(query) });
    if (typeof result === 'boolean') return [String(result)];
    return result.map((r) => (r.subject
        ? row([['s', ofTerm(r.subject)], ['p', ofTerm(r.predicate)], ['o', ofTerm(r.object)]])
        : row([...r].map(([k, v]) => [k, ofTerm(v)]))));
}

async function ours(endpoint, query) {
    const construct = /^[^{]*CONSTRUCT/.test(query);
    const ask = () => fetch(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/sparql-query', accept: construct ? 'application/n-triples' : 'application/sparql-results+json' },
        body: query,
    });
    // The server may have closed a connection that was idle while oxigraph worked.
    const reply = await ask().catch(ask);
    const text = await reply.text();
    if (!reply.ok) throw new Error(text.slice(0, 300));
    if (construct) {
        const graph = new oxigraph.Store();
        graph.load(text, { format: 'application/n-triples' });
        return graph.match().map((q) => row([['s', ofTerm(q.subject)], ['p', ofTerm(q.predicate)], ['o', ofTerm(q.object)]]));
    }
    const json = JSON.parse(text);
    if ('boolean' in json) return [String(json.boolean)];
    return json.results.bindings.map((b) => row(Object.entries(b).map(([k, v]) => [k, normal(v.type, v.value, v['xml:lang'], v.datatype)])));
}

// The first rows of an answer without an order are any of it.
const unlimited = (query) => query.replace(/ LIMIT \d+$/, '');
function firstOf(got, whole, limit) {
    const left = new Map();
    for (const r of whole) left.set(r, (left.get(r) || 0) + 1);
    const all = got.every((r) => left.set(r, (left.get(r) || 0) - 1).get(r) >= 0);
    return all && got.length === Math.min(limit, whole.length);
}

const form = (rows, isOrdered) => (isOrdered ? rows : [...rows].sort()).join('\n');

let done = 0, empty = 0, skipped = 0, differing = 0;
while (done < Number(count)) {
    const shape = shapes[(done + skipped) % shapes.length];
    const query = 'PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n' + shape();
    let expected;
    try {
        expected = theirs(shape.name.startsWith('limit') ? unlimited(query) : query);
    } catch (error) {
        console.log(`oxigraph refuses: ${error}\n${query}\n`);
        skipped++;
        continue;
    }
    if (expected.length > MOST_ROWS) {
        skipped++;
        continue;
    }
    done++;
    empty += expected.length === 0;
    for (const endpoint of endpoints) {
        let got;
        try {
            got = await ours(endpoint, query);
        } catch (error) {
            got = [`failed: ${error.message}`];
        }
        const isOrdered = shape.name === 'ordered' || shape.name.startsWith('top');
        // A CONSTRUCT's triples are a set; oxigraph may give one more than once.
        const set = shape.name === 'construct' ? (rows) => [...new Set(rows)] : (rows) => rows;
        const same = shape.name.startsWith('limit') ? firstOf(got, expected, Number(query.match(/ LIMIT (\d+)$/)[1]))
            : form(set(got), isOrdered) === form(set(expected), isOrdered);
        if (!same) {
            differing++;
            const extra = got.filter((r) => !expected.includes(r)).slice(0, 3);
            const missing = expected.filter((r) => !got.includes(r)).slice(0, 3);
            console.log(`${shape.name} at ${endpoint}: ${got.length} rows, oxigraph ${expected.length}\n${query}\n` +
                extra.map((r) => `  + ${r}\n`).join('') + missing.map((r) => `  - ${r}\n`).join(''));
        }
    }
}
console.log(`${done} queries (${empty} without answers, ${skipped} passed over), ${differing} differences`);
process.exit(differing ? 1 : 0);
