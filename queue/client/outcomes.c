#include "queue/client/outcomes.h"

const struct outcome_words outcome_words[OUTCOME_COUNT] = {[OUTCOME_NONE] = {STAGE_COUNT, "", ""},
#define X(name, stage, word, text) [OUTCOME_##name] = {stage, word, text},
                                                           OUTCOME_MAP(X)
#undef X
};
