#include <stdio.h>
#define LIMIT 3
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

struct harbour {
    int depth;
};

typedef struct {
    int level;
} tide_t;

enum port { OPEN, CLOSED };

int prototype(int a);

/* Adds
 * two. */
static inline int add(int a, int b)
{
    return a + b;
}

char *name_of(struct harbour *h) {
    return "x";
}

const char **names(void)
{
    return 0;
}

API_EXPORT int exported(void)
{
    return 1;
}

API_EXPORT
int below(void)
{
    return 1;
}

#ifdef LIMIT
void guarded(void) { puts("x"); }
#else
void guarded(void) { }
#endif

void (*signal_of(int sig, void (*func)(int)))(int)
{
    return func;
}

int first(void) { return 1; } int second(void) { return 2; }

int old_style(a, b)
    int a;
    int b;
{
    return a + b;
}
