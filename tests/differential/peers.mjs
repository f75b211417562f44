// What independent implementations read out of HTML pages, as N-Quads.
//
//   node peers.mjs LIST CONTEXTS >OUT
//
// CONTEXTS is the folder of pinned JSON-LD contexts. LIST has a line for each page: file TAB URL. OUT has for each page and syntax a line
// "# file TAB URL TAB syntax TAB outcome" and then the triples; the outcome is "whole", or the error at
// which the peer stopped. Modules are found through NODE_PATH.
import { createRequire } from 'node:module';
import { readFileSync, writeSync } from 'node:fs';
import { once } from 'node:events';

const require = createRequire(process.env.NODE_PATH + '/');
const { RdfaParser } = require('rdfa-streaming-parser');
const { MicrodataRdfParser } = require('microdata-rdf-streaming-parser');
const { JsonLdParser } = require('jsonld-streaming-parser');
const { Parser } = require('htmlparser2');

// Both sides have the contexts that are pinned, and no others.
const pinned = process.argv[3];
const contexts = new Map();
const plain = (url) => url.replace(/^https?:\/\//, '').replace(/^www\./, '').replace(/\/+$/, '');
let file;
for (const line of readFileSync(`${pinned}/index`, 'utf8').split('\n')) {
    const [word, value] = line.split(/\s+/);
    if (word === 'context') file = value;
    if (word === 'at') contexts.set(plain(value), file);
}
const documentLoader = {
    load: async (url) => {
        const file = contexts.get(plain(url));
        if (file) return JSON.parse(readFileSync(`${pinned}/${file}`, 'utf8'));
        throw new Error(`context ${url} is not at hand`);
    },
};

function decode(bytes) {
    if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
    const head = bytes.subarray(0, 1024).toString('latin1');
    const label = /<meta[^>]*charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(head)?.[1];
    try {
        return new TextDecoder(label || 'utf-8', { fatal: !label }).decode(bytes);
    } catch {
        return new TextDecoder('windows-1252').decode(bytes);
    }
}

const escapes = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r' };
const literal = (text) => '"' + text.replace(/[\\"\n\r]/g, (c) => escapes[c]) + '"';
const iri = (text) =>
    '<' + text.replace(/[\x00-\x20<>"{}|\\^`]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '>';
function print(term, prefix) {
    switch (term.termType) {
    case 'NamedNode': return iri(term.value);
    case 'BlankNode': return '_:' + prefix + term.value.replace(/[^A-Za-z0-9]/g, (c) => 'x' + c.charCodeAt(0));
    default:
        if (term.language) return literal(term.value) + '@' + term.language.toLowerCase();
        return literal(term.value) +
            (term.datatype.value.endsWith('#string') ? '' : '^^' + iri(term.datatype.value));
    }
}

// The triples that a stream of the peer's gives of one text.
async function read(parser, text, prefix, lines) {
    parser.on('data', (quad) => {
        lines.push([quad.subject, quad.predicate, quad.object].map((t) => print(t, prefix)).join(' ') + ' .');
    });
    parser.on('error', () => {}); // more may follow the first, which `once` throws
    const ended = once(parser, 'end');
    parser.write(text);
    parser.end();
    await ended;
}

function scripts(text) {
    const found = [];
    let inside = false, block = '';
    const parser = new Parser({
        onopentag(name, attributes) {
            inside = name === 'script' && /^\s*application\/ld\+json/i.test(attributes.type || '');
            block = '';
        },
        ontext(piece) { if (inside) block += piece; },
        onclosetag(name) {
            if (inside && name === 'script') found.push(block);
            inside = false;
        },
    }, { decodeEntities: false });
    parser.write(text);
    parser.end();
    return found;
}

const readers = {
    async rdfa(text, url, xml, lines) {
        await read(new RdfaParser({ baseIRI: url, contentType: xml ? 'application/xhtml+xml' : 'text/html' }), text, 'r', lines);
    },
    async microdata(text, url, xml, lines) {
        await read(new MicrodataRdfParser({ baseIRI: url, xmlMode: xml }), text, 'm', lines);
    },
    async jsonld(text, url, xml, lines) {
        let number = 0, failure;
        for (const block of scripts(text)) {
            try {
                await read(new JsonLdParser({ baseIRI: url, documentLoader }), block, `j${number++}x`, lines);
            } catch (error) {
                failure = error;
            }
        }
        if (failure) throw failure;
    },
};

for (const line of readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
    const [file, url] = line.split('\t');
    const text = decode(readFileSync(file));
    for (const [syntax, reader] of Object.entries(readers)) {
        const lines = [];
        let outcome = 'whole';
        try {
            await reader(text, url, file.endsWith('.xhtml'), lines);
        } catch (error) {
            outcome = String(error.message || error).replace(/\s+/g, ' ').slice(0, 200);
        }
        writeSync(1, `# ${file}\t${url}\t${syntax}\t${outcome}\n${lines.map((l) => l + '\n').join('')}`);
    }
}
