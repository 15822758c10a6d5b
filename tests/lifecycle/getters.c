// SPDX-License-Identifier: MIT
/*
 * getters.c - D85: whatever a cache is doing, its questions are answered
 *
 * On a fresh cache, and while a store, a load, a switch or a swapoff stands
 * still in a compressor's function. The answers are
 * those of before or after what is going on, never of something between, and
 * copies: they stay when what they tell of has gone.
 */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "scene.h"

/* All that can be asked. */
struct answers {
	struct zswap_stats stats;
	char spec[ZSWAP_MAX_SPEC + 1];
	char text[8192];
	bool present;
	int state;
	bool next;
};

#define ASKED at(SCENE_FIRST) /* has a page of text, in a retired pool */

/* The last line of the text is the compressor's; the others the gauges'. */
static const char *spec_in_text(struct answers *a)
{
	char *line = strstr(a->text, "\ncompressor ");

	CHECK(line);
	line[strlen(line) - 1] = '\0';
	return line + strlen("\ncompressor ");
}

static void ask(struct zswap *z, struct answers *a)
{
	zswap_slot_t slot = ASKED;

	memset(a, 0, sizeof(*a));
	CHECK(zswap_page_size(z) == PAGE_BYTES);
	a->stats = stress_stats(z);
	CHECK(zswap_get_compressor(z, a->spec, sizeof(a->spec)) ==
	      (long)strlen(a->spec));
	CHECK(zswap_format_stats(z, ZSWAP_STATS_TEXT, a->text,
				 sizeof(a->text)) == (long)strlen(a->text));
	CHECK(strcmp(spec_in_text(a), a->spec) == 0);
	a->present = zswap_is_present(z, ASKED, 1);
	a->state = zswap_query(z, ASKED);
	a->next = zswap_next_present(z, &slot);
	CHECK(zswap_set_accept_threshold_percent(z, 101) == -EINVAL);
}

/* ---- a fresh cache ----------------------------------------------------- */

static void D85_a_fresh_cache_answers(void)
{
	struct answers a;
	struct zswap *z;

	CHECK(zswap_create(&z, NULL) == 0);
	ask(z, &a);
	zswap_destroy(z);
	CHECK(strcmp(a.spec, "lz4") == 0);
	CHECK(a.stats.pools == 1 && a.stats.stored_pages == 0);
	CHECK(a.stats.pool_total_size == 0);
	CHECK(a.stats.max_pool_bytes > 0);
	CHECK(!a.present && !a.next && a.state == -ENXIO);
}

/* ---- something stands still -------------------------------------------- */

struct moment;

/* What is going on, and what it is seen to be meanwhile. */
struct doing {
	void (*run)(struct moment *m);
	/* What stops it: an event, or requests of one side. */
	enum { AT_CREATE, AT_DESTROY, AT_COMPRESS, AT_DECOMPRESS } where;
	/* The spec in use is still the test compressor's. */
	bool keeps_spec;
	int state;
};

struct moment {
	struct scene scene;
	const struct doing *doing;
	struct gate gate;
	atomic_bool armed;
	struct thread thread;
};

static void stand(struct moment *m)
{
	if (atomic_exchange(&m->armed, false))
		gate_pass(&m->gate);
}

static void stand_at_event(void *arg, enum codec_event event)
{
	struct moment *m = arg;

	if ((event == CODEC_CREATE && m->doing->where == AT_CREATE) ||
	    (event == CODEC_DESTROY && m->doing->where == AT_DESTROY))
		stand(m);
}

static void stand_in_compress(void *arg)
{
	struct moment *m = arg;

	if (m->doing->where == AT_COMPRESS)
		stand(m);
}

static void stand_in_decompress(void *arg)
{
	struct moment *m = arg;

	if (m->doing->where == AT_DECOMPRESS)
		stand(m);
}

static void do_store(struct moment *m)
{
	CHECK(stress_store(m->scene.z, at(5000), 4) == 0);
}

/* The last page of the scene is one of the test compressor's. */
static void do_peek(struct moment *m)
{
	char page[PAGE_BYTES];

	CHECK(zswap_peek(m->scene.z, at(SCENE_FIRST + SCENE_PAGES - PAGE_KINDS),
			 page) == 0);
}

/* Ends the last pool of the test compressor, which was retired. */
static void do_swapoff(struct moment *m)
{
	CHECK(zswap_swapoff(m->scene.z, 0) == 0);
}

static void do_switch(struct moment *m)
{
	char spec[32];

	strcpy(spec, m->scene.codec.spec);
	strcat(spec, ",other");
	CHECK(zswap_set_compressor(m->scene.z, spec) == 0);
}

static void run_doing(void *arg)
{
	struct moment *m = arg;

	m->doing->run(m);
}

static const struct doing doings[] = {
	{ do_store, AT_COMPRESS, true, ZSWAP_STORED },
	{ do_peek, AT_DECOMPRESS, true, ZSWAP_STORED },
	{ do_switch, AT_CREATE, true, ZSWAP_STORED },
	{ do_swapoff, AT_DESTROY, false, -ENXIO },
};

static void moment_begin(struct moment *m, const struct doing *doing)
{
	memset(m, 0, sizeof(*m));
	m->doing = doing;
	gate_init(&m->gate);
	scene_begin(&m->scene);
	m->scene.codec.event_arg = m;
	m->scene.codec.event = stand_at_event;
	m->scene.codec.compress.call_arg = m;
	m->scene.codec.compress.call = stand_in_compress;
	m->scene.codec.decompress.call_arg = m;
	m->scene.codec.decompress.call = stand_in_decompress;
	if (!doing->keeps_spec)
		CHECK(zswap_set_compressor(m->scene.z, "lz4hc:level=1") == 0);
	gate_close(&m->gate);
	atomic_store(&m->armed, true);
	thread_start(&m->thread, run_doing, m);
	CHECK(gate_wait(&m->gate, 1));
}

static void moment_end(struct moment *m)
{
	gate_open(&m->gate);
	thread_join(&m->thread);
	zswap_destroy(m->scene.z);
	scene_end(&m->scene);
	gate_end(&m->gate);
}

static void D85_answers_while(const struct doing *doing)
{
	static struct moment m;
	bool has_page = doing->state == ZSWAP_STORED;
	struct answers a;

	moment_begin(&m, doing);
	ask(m.scene.z, &a);
	CHECK(strcmp(a.spec, doing->keeps_spec ? m.scene.codec.spec :
						 "lz4hc:level=1") == 0);
	CHECK(a.state == doing->state);
	CHECK(a.present == has_page && a.next == has_page);
	CHECK(a.stats.stored_pages == (has_page ? SCENE_PAGES + 1 : 0) ||
	      doing->run == do_swapoff);
	CHECK(a.stats.pools >= 1 && a.stats.pools <= SCENE_POOLS + 1);
	moment_end(&m);
	watchdog_progress();
}

int main(void)
{
	size_t i;

	watchdog_start("getters", 60);
	D85_a_fresh_cache_answers();
	for (i = 0; i < sizeof(doings) / sizeof(doings[0]); i++)
		D85_answers_while(&doings[i]);
	watchdog_stop();
	return 0;
}
