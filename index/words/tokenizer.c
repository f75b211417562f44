#include "index/words/tokenizer.h"

#include <libstemmer.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include "base/memory.h"

/* Kinds of characters. Others are what they fold to, a single one above these numbers. */
enum {
    PARTS = 0,      /* parts words */
    DROPPED = 1,    /* accents, joiners */
    SEVERAL = 2,    /* folds to more than one, or lies outside the table */
    PAIRED = 3,     /* Han, kana, Hangul */
    DICTIONARY = 4, /* Thai, Lao, Khmer, Myanmar */
    FOLDED_FIRST = 0x20
};

enum {
    TABLE = 0x10000,
    FOLDS_MOST = 18, /* U+FDFA has the longest compatibility form */
    LONG_KEPT = WORD_MOST - 16,
    RUN_MOST = 4096, /* UTF-16 units of a script's run that are looked at together */
    ACCENTED_MOST = 4 * WORD_MOST
};

static uint16_t table[TABLE];
static const UNormalizer2 *folder, *composed;

/* ---- one character ---- */

static bool
is_word_character(UChar32 c)
{
    const uint32_t mask = U_GET_GC_MASK(c);
    return (mask & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK | U_GC_CO_MASK)) != 0;
}

/* Above, below, and the points of Hebrew, Arabic, Syriac. */
static bool
is_accent(UChar32 c)
{
    const uint8_t class = u_getCombiningClass(c);
    return class >= 200 || (class >= 10 && class <= 36);
}

static int
script_kind(UChar32 c)
{
    UErrorCode error = U_ZERO_ERROR;
    switch (uscript_getScript(c, &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_KATAKANA_OR_HIRAGANA:
    case USCRIPT_HANGUL:
    case USCRIPT_BOPOMOFO:
    case USCRIPT_YI:
        return PAIRED;
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
        return DICTIONARY;
    default:
        /* Marks and signs that kana and Han share, such as the prolonged sound mark. */
        return (c == 0x30fc || c == 0x3099 || c == 0x309a || c == 0xff70 || c == 0xff9e ||
                c == 0xff9f)
                   ? PAIRED
                   : PARTS;
    }
}

/* Takes accents off. The short i of Cyrillic is a letter of its own. */
static UChar32
without_accent(UChar32 c)
{
    UChar parts[FOLDS_MOST];
    UErrorCode error = U_ZERO_ERROR;
    if (c == 0x439) {
        return c;
    }
    const int32_t length = unorm2_getDecomposition(composed, c, parts, FOLDS_MOST, &error);
    if (length <= 0 || U_FAILURE(error)) {
        return c;
    }
    int32_t at = 0;
    UChar32 base;
    U16_NEXT(parts, at, length, base);
    while (at < length) {
        UChar32 mark;
        U16_NEXT(parts, at, length, mark);
        if (!is_accent(mark)) {
            return c;
        }
    }
    return base;
}

/* The characters that c folds to, those that part words left out. */
static int
fold(UChar32 c, UChar32 out[FOLDS_MOST])
{
    UChar in[2];
    UChar units[3 * FOLDS_MOST];
    int32_t length = 0;
    UErrorCode error = U_ZERO_ERROR;
    U16_APPEND_UNSAFE(in, length, c);
    const int32_t n = unorm2_normalize(folder, in, length, units, 3 * FOLDS_MOST, &error);
    int count = 0;
    for (int32_t at = 0; at < n && U_SUCCESS(error) && count < FOLDS_MOST;) {
        UChar32 part;
        U16_NEXT(units, at, n, part);
        if (is_word_character(part) && !is_accent(part)) {
            out[count++] = without_accent(part);
        }
    }
    return count;
}

static int
kind_of(UChar32 c)
{
    UChar32 folded[FOLDS_MOST];
    if (U_IS_SURROGATE(c)) {
        return PARTS;
    }
    if (u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) {
        return DROPPED;
    }
    const int script = script_kind(c);
    if (!is_word_character(c)) {
        return PARTS;
    }
    if (script != PARTS) {
        return script;
    }
    if (is_accent(c)) {
        return DROPPED;
    }
    const int count = fold(c, folded);
    return count == 0                                                           ? DROPPED
           : count == 1 && folded[0] < TABLE && script_kind(folded[0]) == PARTS ? (int)folded[0]
           : count == 1 && folded[0] < TABLE ? script_kind(folded[0])
                                             : SEVERAL;
}

static void
make_table(void)
{
    UErrorCode error = U_ZERO_ERROR;
    folder = unorm2_getNFKCCasefoldInstance(&error);
    composed = unorm2_getNFCInstance(&error);
    for (UChar32 c = FOLDED_FIRST; c < TABLE && U_SUCCESS(error); c++) {
        table[c] = (uint16_t)kind_of(c);
    }
}

/* ---- words ---- */

struct tokenizer {
    UBreakIterator *breaks;
    struct sb_stemmer *stemmers[STEM_LANGUAGE_MOST];
    UChar units[RUN_MOST + 1], folded[3 * RUN_MOST];
    uint8_t word[WORD_MOST + U8_MAX_LENGTH];
    uint8_t stem[WORD_MOST + U8_MAX_LENGTH];
};

/* A word that grows: its first bytes, and a hash of what comes after. */
struct growing {
    uint8_t *at;
    size_t length; /* kept */
    uint64_t rest;
    bool is_long;
};

static inline void
grow(struct growing *word, uint8_t byte)
{
    if (word->length < WORD_MOST) {
        word->at[word->length++] = byte;
        return;
    }
    if (!word->is_long) {
        word->is_long = true;
        word->rest = 0xcbf29ce484222325;
        for (size_t i = LONG_KEPT; i < WORD_MOST; i++) {
            word->rest = (word->rest ^ word->at[i]) * 0x100000001b3;
        }
    }
    word->rest = (word->rest ^ byte) * 0x100000001b3;
}

static void
grow_character(struct growing *word, UChar32 c)
{
    uint8_t bytes[U8_MAX_LENGTH];
    int32_t n = 0;
    U8_APPEND_UNSAFE(bytes, n, c);
    for (int32_t i = 0; i < n; i++) {
        grow(word, bytes[i]);
    }
}

/* A long word is cut before the character that passes LONG_KEPT. */
static struct slice
grown(struct growing *word)
{
    if (word->is_long) {
        static const char digits[] = "0123456789abcdef";
        size_t length = LONG_KEPT;
        while (length > 0 && (word->at[length] & 0xc0) == 0x80) {
            length--;
        }
        for (int i = 60; i >= 0; i -= 4) {
            word->at[length++] = (uint8_t)digits[word->rest >> i & 15];
        }
        word->length = length;
    }
    return slice_of((const char *)word->at, word->length);
}

/* ---- runs of scripts without blanks ---- */

struct splitting {
    struct tokenizer *tokenizer;
    tokenizer_take *take;
    void *context;
    const uint8_t *text;
    int32_t length;
    bool go_on;
};

static void
take_units(struct splitting *s, const UChar *units, int32_t length, enum token_kind kind,
           struct slice text)
{
    struct growing word = {.at = s->tokenizer->word};
    for (int32_t at = 0; at < length;) {
        UChar32 c;
        U16_NEXT(units, at, length, c);
        grow_character(&word, c);
    }
    const struct token token = {grown(&word), text, kind, false};
    s->go_on = s->go_on && s->take(s->context, &token);
}

/* cut: the run goes on, and its last character comes again. */
static void
take_pairs(struct splitting *s, int32_t length, bool cut, struct slice text)
{
    const UChar *units = s->tokenizer->folded;
    for (int32_t at = 0; at < length && s->go_on;) {
        int32_t second = at;
        U16_FWD_1(units, second, length);
        int32_t end = second;
        if (second < length) {
            U16_FWD_1(units, end, length);
        }
        if (second < length || !cut) {
            take_units(s, units + at, end - at, second < length ? TOKEN_PAIR : TOKEN_LAST, text);
        }
        at = second;
    }
}

static void
take_dictionary_words(struct splitting *s, int32_t length, struct slice text)
{
    struct tokenizer *t = s->tokenizer;
    UErrorCode error = U_ZERO_ERROR;
    if (t->breaks == NULL) {
        t->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &error);
    }
    if (U_SUCCESS(error)) {
        ubrk_setText(t->breaks, t->folded, length, &error);
    }
    if (U_FAILURE(error)) {
        take_units(s, t->folded, length, TOKEN_WORD, text);
        return;
    }
    int32_t begin = ubrk_first(t->breaks);
    for (int32_t end = ubrk_next(t->breaks); end != UBRK_DONE && s->go_on;
         end = ubrk_next(t->breaks)) {
        take_units(s, t->folded + begin, end - begin, TOKEN_WORD, text);
        begin = end;
    }
}

static inline uint16_t
kind_at(UChar32 c)
{
    return c < TABLE ? table[c] : (uint16_t)kind_of(c);
}

/* Takes the characters of the kind that begin at `at`, and returns where they end. */
static int32_t
take_run(struct splitting *s, int32_t at, uint16_t kind)
{
    struct tokenizer *t = s->tokenizer;
    const int32_t begin = at;
    int32_t last = at;
    int32_t length = 0;
    bool cut = false;
    while (at < s->length) {
        int32_t next = at;
        UChar32 c;
        U8_NEXT(s->text, next, s->length, c);
        const uint16_t is = c < 0 ? PARTS : kind_at(c);
        if (is != kind && is != DROPPED) {
            break;
        }
        cut = length >= RUN_MOST - 1;
        if (cut) {
            break;
        }
        if (is == kind) {
            U16_APPEND_UNSAFE(t->units, length, c);
            last = at;
        }
        at = next;
    }
    UErrorCode error = U_ZERO_ERROR;
    const struct slice text = slice_of((const char *)s->text + begin, (size_t)(at - begin));
    const int32_t folded =
        unorm2_normalize(folder, t->units, length, t->folded, 3 * RUN_MOST, &error);
    if (U_FAILURE(error)) {
        return at;
    }
    if (kind == PAIRED) {
        take_pairs(s, folded, cut, text);
        return cut ? last : at;
    }
    take_dictionary_words(s, folded, text);
    return at;
}

/* ---- other words ---- */

/* False when c does not belong to the word. */
static bool
add_character(struct growing *word, UChar32 c)
{
    const uint16_t kind = c < 0 ? PARTS : kind_at(c);
    if (kind >= FOLDED_FIRST) {
        grow_character(word, kind);
        return true;
    }
    if (kind == SEVERAL) {
        UChar32 folded[FOLDS_MOST];
        const int count = fold(c, folded);
        for (int i = 0; i < count; i++) {
            grow_character(word, folded[i]);
        }
        return true;
    }
    return kind == DROPPED;
}

static int32_t
take_word(struct splitting *s, int32_t at)
{
    struct growing word = {.at = s->tokenizer->word};
    const int32_t begin = at;
    bool ascii = true;
    while (at < s->length) {
        const uint8_t byte = s->text[at];
        if (byte < 0x80) {
            if (table[byte] == PARTS) {
                break;
            }
            grow(&word, (uint8_t)table[byte]);
            at++;
            continue;
        }
        int32_t next = at;
        UChar32 c;
        U8_NEXT(s->text, next, s->length, c);
        if (!add_character(&word, c)) {
            break;
        }
        ascii = false;
        at = next;
    }
    if (word.length > 0) {
        const struct token token = {grown(&word),
                                    slice_of((const char *)s->text + begin, (size_t)(at - begin)),
                                    TOKEN_WORD, ascii};
        s->go_on = s->take(s->context, &token);
    }
    return at;
}

void
tokenizer_split(struct tokenizer *tokenizer, struct slice text, tokenizer_take *take, void *context)
{
    struct splitting s = {.tokenizer = tokenizer,
                          .take = take,
                          .context = context,
                          .text = (const uint8_t *)text.at,
                          .length = text.length < INT32_MAX ? (int32_t)text.length : INT32_MAX,
                          .go_on = true};
    for (int32_t at = 0; at < s.length && s.go_on;) {
        if (s.text[at] < 0x80) {
            at = table[s.text[at]] == PARTS ? at + 1 : take_word(&s, at);
            continue;
        }
        int32_t next = at;
        UChar32 c;
        U8_NEXT(s.text, next, s.length, c);
        const uint16_t kind = c < 0 ? PARTS : kind_at(c);
        if (kind == PARTS || kind == DROPPED) {
            at = next;
        } else if (kind == PAIRED || kind == DICTIONARY) {
            at = take_run(&s, at, kind);
        } else {
            at = take_word(&s, at);
        }
    }
}

struct tokenizer *
tokenizer_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_table);
    return memory_new(sizeof(struct tokenizer));
}

void
tokenizer_free(struct tokenizer *tokenizer)
{
    if (tokenizer != NULL) {
        if (tokenizer->breaks != NULL) {
            ubrk_close(tokenizer->breaks);
        }
        for (int i = 0; i < STEM_LANGUAGE_MOST; i++) {
            if (tokenizer->stemmers[i] != NULL) {
                sb_stemmer_delete(tokenizer->stemmers[i]);
            }
        }
        free(tokenizer);
    }
}

/* ---- stems ---- */

/* Their place is their number, which is not stored; their letters are. */
static const char *const stem_languages[] = {
    "ar", "ca", "da", "de", "el", "en", "es", "eu", "fi", "fr", "ga", "hi", "hu", "hy",
    "id", "it", "lt", "ne", "nl", "no", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi"};
enum { STEM_LANGUAGES = sizeof(stem_languages) / sizeof(stem_languages[0]) };
_Static_assert((int)STEM_LANGUAGES <= (int)STEM_LANGUAGE_MOST, "a set of languages is 64 bits");

const char *
stem_language_name(int language)
{
    return language >= 0 && language < STEM_LANGUAGES ? stem_languages[language] : NULL;
}

int
stem_language(struct slice tag)
{
    struct slice primary = slice_of(tag.at, slice_find(tag, '-'));
    if (slice_equal_nocase(primary, SLICE("nb")) || slice_equal_nocase(primary, SLICE("nn"))) {
        primary = SLICE("no");
    }
    for (int i = 0; i < STEM_LANGUAGES; i++) {
        if (slice_equal_nocase(primary, slice_string(stem_languages[i]))) {
            return i;
        }
    }
    return -1;
}

/* Stemmers look at accents, so they get the word with its case folded alone. In memory of its own:
 * the tokenizer's may hold a run whose words are being taken. The word has less than WORD_MOST
 * bytes. */
static struct slice
accented(const struct token *token, uint8_t text[ACCENTED_MOST])
{
    UChar plain[WORD_MOST], cased[FOLDS_MOST * WORD_MOST];
    int32_t units = 0;
    int32_t length = 0;
    int32_t bytes = 0;
    UErrorCode error = U_ZERO_ERROR;
    u_strFromUTF8(plain, WORD_MOST, &units, token->text.at, (int32_t)token->text.length, &error);
    if (U_SUCCESS(error)) {
        length = unorm2_normalize(folder, plain, units, cased, FOLDS_MOST * WORD_MOST, &error);
    }
    if (U_SUCCESS(error)) {
        u_strToUTF8((char *)text, ACCENTED_MOST, &bytes, cased, length, &error);
    }
    return U_SUCCESS(error) && bytes <= ACCENTED_MOST ? slice_of((char *)text, (size_t)bytes)
                                                      : token->word;
}

struct slice
tokenizer_stem(struct tokenizer *tokenizer, int language, const struct token *token)
{
    uint8_t text[ACCENTED_MOST];
    struct slice word = token->word;
    if (token->kind != TOKEN_WORD || word.length >= LONG_KEPT) {
        return word;
    }
    if (tokenizer->stemmers[language] == NULL) {
        tokenizer->stemmers[language] = sb_stemmer_new(stem_languages[language], NULL);
    }
    if (!token->ascii && token->text.length < WORD_MOST) {
        word = accented(token, text);
    }
    struct sb_stemmer *stemmer = tokenizer->stemmers[language];
    const sb_symbol *stem =
        stemmer ? sb_stemmer_stem(stemmer, (const sb_symbol *)word.at, (int)word.length) : NULL;
    if (stem == NULL) {
        return token->word;
    }
    struct growing folded = {.at = tokenizer->stem};
    const int32_t length = sb_stemmer_length(stemmer);
    for (int32_t at = 0; at < length;) {
        UChar32 c;
        U8_NEXT(stem, at, length, c);
        (void)add_character(&folded, c);
    }
    return folded.length > 0 ? grown(&folded) : token->word;
}
