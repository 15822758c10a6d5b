// SPDX-License-Identifier: MIT
#include "span.h"

#include "poison.h"

#include <string.h>

#define WORD_BITS 64
#define NR_WORDS (SPAN_CHUNK_GRANULES / WORD_BITS)

/* Runs that go back in one round: more would delay the call that frees one. */
#define TRIM_RUNS 8

/*
 * Invariants, under the lock:
 *
 *	nr_free == bits set in free[]; resident[] is a part of free[]
 *	nr_busy == granules that are used, or just being purged
 *	nr_free + nr_busy + granules that wait + header == 1024
 */
struct chunk {
	struct span_owners owners; /* first: span_owner() finds it by address */
	struct list node;
	unsigned bucket; /* the chunks[] list it is on */
	unsigned nr_free;
	unsigned nr_busy;
	uint64_t free[NR_WORDS];
	uint64_t resident[NR_WORDS];
	uint8_t waiting[SPAN_CHUNK_GRANULES]; /* a waiting run's length, at its
						 first granule */
};

/*
 * Lies in the first bytes of a waiting run, whose memory is there. These bytes
 * stay allowed while it waits, for who changes a neighbour in a list writes to
 * them; all else that is not used is forbidden, but for chunks' headers.
 */
struct waiting_run {
	struct list node;      /* on span->waiting */
	struct list same_size; /* on span->waiting_by_length */
};

struct trim_run {
	char *addr;
	unsigned nr;
};

void span_init(struct span_pool *span, struct mem *mem, size_t granule_bytes)
{
	memset(span, 0, sizeof(*span));
	span->mem = mem;
	span->granule_bytes = granule_bytes;
	span->granule_shift = (unsigned)__builtin_ctzll(granule_bytes);
	span->chunk_bytes = granule_bytes * SPAN_CHUNK_GRANULES;
	/* Whole system pages, so that all the rest can be purged. */
	span->header_granules =
		(unsigned)(round_up(sizeof(struct chunk),
				    max_size(granule_bytes, mem->os_page)) /
			   granule_bytes);
	for (unsigned i = 0; i <= SPAN_MAX_RUN; i++) {
		list_init(&span->chunks[i]);
		list_init(&span->waiting_by_length[i]);
	}
	list_init(&span->waiting);
}

static size_t header_bytes(const struct span_pool *span)
{
	return span->header_granules * span->granule_bytes;
}

static struct chunk *chunk_of(const struct span_pool *span, const void *addr)
{
	return (void *)((uintptr_t)addr & ~(uintptr_t)(span->chunk_bytes - 1));
}

static unsigned index_of(const struct span_pool *span, const void *addr)
{
	return (unsigned)(((uintptr_t)addr & (span->chunk_bytes - 1)) >>
			  span->granule_shift);
}

static void *granule_addr(const struct span_pool *span, struct chunk *chunk,
			  unsigned i)
{
	return (char *)chunk + i * span->granule_bytes;
}

/*
 * The sum of all spans changes by the same difference: in each half it is the
 * sum of the halves, as no half ever overflows or falls below 0.
 */
static void unlock(struct span_pool *span)
{
	uint64_t counts = (uint64_t)span->nr_used << 32 | span->nr_reserve;
	uint64_t old =
		atomic_load_explicit(&span->counts, memory_order_relaxed);

	if (counts != old) {
		atomic_store_explicit(&span->counts, counts,
				      memory_order_relaxed);
		atomic_fetch_add_explicit(&span->mem->held, counts - old,
					  memory_order_relaxed);
	}
	lock_give(&span->lock);
}

static void add_to(_Atomic size_t *count, size_t n)
{
	atomic_fetch_add_explicit(count, n, memory_order_relaxed);
}

static void take_from(_Atomic size_t *count, size_t n)
{
	atomic_fetch_sub_explicit(count, n, memory_order_relaxed);
}

/* ---- bits ---------------------------------------------------------------- */

static bool bit_is_set(const uint64_t *bits, unsigned i)
{
	return bits[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

static void set_bits(uint64_t *bits, unsigned first, unsigned nr)
{
	for (unsigned i = first; i < first + nr; i++)
		bits[i / WORD_BITS] |= UINT64_C(1) << (i % WORD_BITS);
}

/* Clears bits and says how many of them were set. */
static unsigned clear_bits(uint64_t *bits, unsigned first, unsigned nr)
{
	unsigned was_set = 0;

	for (unsigned i = first; i < first + nr; i++) {
		was_set += bit_is_set(bits, i);
		bits[i / WORD_BITS] &= ~(UINT64_C(1) << (i % WORD_BITS));
	}
	return was_set;
}

static unsigned count_bits(const uint64_t *bits)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NR_WORDS; i++)
		n += (unsigned)__builtin_popcountll(bits[i]);
	return n;
}

/* The first bit from `from` on that equals `set`; 1024 when there is none. */
static unsigned next_bit(const uint64_t *bits, unsigned from, bool set)
{
	while (from < SPAN_CHUNK_GRANULES) {
		uint64_t word = bits[from / WORD_BITS];

		word = (set ? word : ~word) >> (from % WORD_BITS);
		if (word)
			return from + (unsigned)__builtin_ctzll(word);
		from = (from / WORD_BITS + 1) * WORD_BITS;
	}
	return SPAN_CHUNK_GRANULES;
}

/* ---- free granules of a chunk -------------------------------------------- */

/* The first of nr free granules in a row; 1024 when there are none. */
static unsigned find_run(const struct chunk *chunk, unsigned nr)
{
	unsigned first = next_bit(chunk->free, 0, true);

	while (first < SPAN_CHUNK_GRANULES) {
		unsigned end = next_bit(chunk->free, first, false);

		if (end - first >= nr)
			return first;
		first = next_bit(chunk->free, end, true);
	}
	return first;
}

static void move_to_bucket(struct span_pool *span, struct chunk *chunk,
			   unsigned bucket)
{
	list_del(&chunk->node);
	chunk->bucket = bucket;
	list_add(&chunk->node, &span->chunks[bucket]);
}

/* Length of the free run around granule i, as far as 16 to either side. */
static unsigned free_around(const struct chunk *chunk, unsigned i)
{
	unsigned first = i, end = i;

	while (i - first < SPAN_MAX_RUN && bit_is_set(chunk->free, first - 1))
		first--;
	while (end - i < SPAN_MAX_RUN && end < SPAN_CHUNK_GRANULES &&
	       bit_is_set(chunk->free, end))
		end++;
	return end - first < SPAN_MAX_RUN ? end - first : SPAN_MAX_RUN;
}

static void make_free(struct span_pool *span, struct chunk *chunk,
		      unsigned first, unsigned nr)
{
	unsigned longest;

	lock_assert_held(&span->lock);
	set_bits(chunk->free, first, nr);
	chunk->nr_free += nr;
	longest = free_around(chunk, first);
	if (longest > chunk->bucket)
		move_to_bucket(span, chunk, longest);
}

static void make_resident(struct span_pool *span, struct chunk *chunk,
			  unsigned first, unsigned nr)
{
	set_bits(chunk->resident, first, nr);
	span->nr_reserve += nr;
}

/* Marks a run as busy; its granules were free. */
static void make_busy(struct span_pool *span, struct chunk *chunk,
		      unsigned first, unsigned nr)
{
	lock_assert_held(&span->lock);
	clear_bits(chunk->free, first, nr);
	span->nr_reserve -= clear_bits(chunk->resident, first, nr);
	chunk->nr_free -= nr;
	chunk->nr_busy += nr;
}

/* ---- chunks -------------------------------------------------------------- */

static void chunk_reset(struct span_pool *span, struct chunk *chunk)
{
	unsigned header = span->header_granules;

	memset(chunk, 0, sizeof(*chunk));
	chunk->nr_free = SPAN_CHUNK_GRANULES - header;
	set_bits(chunk->free, header, chunk->nr_free);
	chunk->bucket = SPAN_MAX_RUN;
}

/* Called without the lock. */
static struct chunk *chunk_map(struct span_pool *span)
{
	struct chunk *chunk =
		mem_map(span->mem, span->chunk_bytes, span->chunk_bytes);

	if (!chunk)
		return NULL;
	if ((uint64_t)(uintptr_t)chunk >> SPAN_ADDRESS_BITS) {
		mem_unmap(span->mem, chunk, span->chunk_bytes);
		return NULL;
	}
	add_to(&span->mem->metadata_bytes, header_bytes(span));
	chunk_reset(span, chunk);
	poison_forbid((char *)chunk + header_bytes(span),
		      span->chunk_bytes - header_bytes(span));
	return chunk;
}

static void chunk_unmap(struct span_pool *span, struct chunk *chunk)
{
	if (!chunk)
		return;
	take_from(&span->mem->metadata_bytes, header_bytes(span));
	poison_allow_undefined(chunk, span->chunk_bytes);
	mem_unmap(span->mem, chunk, span->chunk_bytes);
}

void span_exit(struct span_pool *span)
{
	struct list *pos, *tmp;

	if (!span->mem)
		return;
	for (unsigned i = 0; i <= SPAN_MAX_RUN; i++)
		list_for_each_safe(pos, tmp, &span->chunks[i])
			chunk_unmap(span, list_entry(pos, struct chunk, node));
	chunk_unmap(span, span->spare);
	atomic_fetch_sub(&span->mem->held, atomic_load(&span->counts));
	span->mem = NULL;
}

/* ---- waiting runs -------------------------------------------------------- */

static void start_waiting(struct span_pool *span, struct chunk *chunk,
			  struct waiting_run *run, unsigned nr)
{
	chunk->waiting[index_of(span, run)] = (uint8_t)nr;
	poison_allow_undefined(run, sizeof(*run));
	list_add(&run->node, &span->waiting);
	list_add(&run->same_size, &span->waiting_by_length[nr]);
	span->nr_waiting += nr;
	span->nr_reserve += nr;
}

/* Returns the run's length. */
static unsigned stop_waiting(struct span_pool *span, struct chunk *chunk,
			     struct waiting_run *run)
{
	unsigned i = index_of(span, run);
	unsigned nr = chunk->waiting[i];

	zswap_assert(nr);
	chunk->waiting[i] = 0;
	list_del(&run->node);
	list_del(&run->same_size);
	poison_forbid(run, sizeof(*run));
	span->nr_waiting -= nr;
	span->nr_reserve -= nr;
	return nr;
}

static struct waiting_run *newest_of_length(struct span_pool *span, unsigned nr)
{
	struct list *head = &span->waiting_by_length[nr];

	if (list_empty(head))
		return NULL;
	return list_entry(head->next, struct waiting_run, same_size);
}

/* ---- giving back --------------------------------------------------------- */

/*
 * Purges forbidden memory that nobody else uses: called without the lock, for
 * granules that count as busy, or of a chunk that is on no list.
 */
static int purge(struct span_pool *span, void *addr, size_t bytes)
{
	int err;

	poison_allow_undefined(addr, bytes); /* the hook may write to it */
	err = mem_purge(span->mem, addr, bytes);
	poison_forbid(addr, bytes);
	return err;
}

/* Takes a chunk without busy granules off all lists, its waiting runs too. */
static void chunk_retire(struct span_pool *span, struct chunk *chunk)
{
	lock_assert_held(&span->lock);
	zswap_assert(!chunk->nr_busy);
	for (unsigned i = 0; i < SPAN_CHUNK_GRANULES; i++)
		if (chunk->waiting[i])
			stop_waiting(span, chunk, granule_addr(span, chunk, i));
	span->nr_reserve -= count_bits(chunk->resident);
	list_del(&chunk->node);
}

/* Keeps a retired chunk as the spare, or unmaps it. Called without the lock. */
static void chunk_dispose(struct span_pool *span, struct chunk *chunk)
{
	size_t header = header_bytes(span);

	if (mem_can_purge(span->mem) &&
	    !purge(span, (char *)chunk + header, span->chunk_bytes - header)) {
		chunk_reset(span, chunk);
		lock_take(&span->lock);
		if (!span->spare) {
			span->spare = chunk;
			chunk = NULL;
		}
		unlock(span);
	}
	chunk_unmap(span, chunk);
}

static size_t reserve_limit(const struct span_pool *span)
{
	size_t small = span->nr_used / MEM_RESERVE_SHARE;
	size_t steady = SPAN_RESERVE_BYTES >> span->granule_shift;
	size_t large = span->nr_used / SPAN_RESERVE_SHARE;

	return min_size(small, max_size(steady, large));
}

/*
 * Takes the oldest waiting runs off their lists, down to half of the limit so
 * that the next calls have nothing to do. They count as busy until their memory
 * is gone. A run whose chunk is otherwise unused ends the round: its chunk goes
 * as a whole, in *retired.
 */
static unsigned collect_trim(struct span_pool *span, struct trim_run *runs,
			     struct chunk **retired)
{
	size_t target = reserve_limit(span) / 2;
	unsigned n = 0;

	lock_assert_held(&span->lock);
	*retired = NULL;
	if (span->nr_waiting <= reserve_limit(span))
		return 0;
	while (n < TRIM_RUNS && span->nr_waiting > target) {
		struct waiting_run *run = list_entry(span->waiting.prev,
						     struct waiting_run, node);
		struct chunk *chunk = chunk_of(span, run);

		if (!chunk->nr_busy) {
			chunk_retire(span, chunk);
			*retired = chunk;
			break;
		}
		runs[n].addr = (char *)run;
		runs[n].nr = stop_waiting(span, chunk, run);
		span->nr_reserve += runs[n].nr; /* until it is purged */
		chunk->nr_busy += runs[n++].nr;
	}
	return n;
}

/* Sorts by address: at most TRIM_RUNS of them. */
static void sort_runs(struct trim_run *runs, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		struct trim_run run = runs[i];
		unsigned j = i;

		for (; j && runs[j - 1].addr > run.addr; j--)
			runs[j] = runs[j - 1];
		runs[j] = run;
	}
}

/* Joins neighbours in one chunk, so that they go back by one call. */
static unsigned join_runs(struct span_pool *span, struct trim_run *runs,
			  unsigned n)
{
	unsigned out = 0;

	for (unsigned i = 1; i < n; i++) {
		struct trim_run *last = &runs[out];

		if (last->addr + last->nr * span->granule_bytes ==
			    runs[i].addr &&
		    chunk_of(span, last->addr) == chunk_of(span, runs[i].addr))
			last->nr += runs[i].nr;
		else
			runs[++out] = runs[i];
	}
	return n ? out + 1 : 0;
}

/*
 * Gives the memory of a run back. Returns what of it lost its memory: whole
 * system pages, so nothing of a run that is shorter than one.
 */
static struct trim_run purge_run(struct span_pool *span, struct trim_run run)
{
	size_t os_page = span->mem->os_page;
	uintptr_t addr = (uintptr_t)run.addr;
	uintptr_t first = round_up(addr, os_page);
	uintptr_t end = (addr + run.nr * span->granule_bytes) & ~(os_page - 1);
	struct trim_run purged = { run.addr, 0 };

	if (first < end && !purge(span, (void *)first, end - first)) {
		/* A granule counts only if all of it is gone. */
		first = round_up(first, span->granule_bytes);
		end &= ~(span->granule_bytes - 1);
		purged.addr = (char *)first;
		purged.nr = (unsigned)((end - first) / span->granule_bytes);
	}
	return purged;
}

/* Ends a run's trim. Returns its chunk if that is now unused and retired. */
static struct chunk *finish_trim(struct span_pool *span, struct trim_run run,
				 struct trim_run purged)
{
	struct chunk *chunk = chunk_of(span, run.addr);
	unsigned first = index_of(span, run.addr);

	lock_assert_held(&span->lock);
	make_resident(span, chunk, first, run.nr);
	if (purged.nr)
		span->nr_reserve -=
			clear_bits(chunk->resident, index_of(span, purged.addr),
				   purged.nr);
	make_free(span, chunk, first, run.nr);
	chunk->nr_busy -= run.nr;
	if (chunk->nr_busy ||
	    chunk->nr_free < SPAN_CHUNK_GRANULES - span->header_granules)
		return NULL;
	chunk_retire(span, chunk);
	return chunk;
}

/* One round; false when there was nothing to do. */
static bool trim_once(struct span_pool *span)
{
	struct trim_run runs[TRIM_RUNS];
	struct chunk *retired;
	unsigned n;

	lock_take(&span->lock);
	n = collect_trim(span, runs, &retired);
	unlock(span);
	if (retired)
		chunk_dispose(span, retired);
	else if (!n)
		return false;
	sort_runs(runs, n);
	n = join_runs(span, runs, n);
	for (unsigned i = 0; i < n; i++) {
		struct trim_run purged = purge_run(span, runs[i]);

		lock_take(&span->lock);
		span->nr_reserve -= runs[i].nr;
		retired = finish_trim(span, runs[i], purged);
		unlock(span);
		if (retired)
			chunk_dispose(span, retired);
	}
	return true;
}

/* ---- out and in ---------------------------------------------------------- */

/* A run of free granules, now busy, or NULL. */
static void *take_free(struct span_pool *span, unsigned nr)
{
	lock_assert_held(&span->lock);
	for (unsigned b = nr; b <= SPAN_MAX_RUN; b++) {
		while (!list_empty(&span->chunks[b])) {
			struct chunk *chunk = list_entry(span->chunks[b].next,
							 struct chunk, node);
			unsigned first = find_run(chunk, nr);

			if (first < SPAN_CHUNK_GRANULES) {
				make_busy(span, chunk, first, nr);
				return granule_addr(span, chunk, first);
			}
			/* The bound was too high; now it is known better. */
			move_to_bucket(span, chunk, nr - 1);
		}
	}
	return NULL;
}

static void *take_waiting(struct span_pool *span, unsigned nr)
{
	struct waiting_run *run = newest_of_length(span, nr);

	lock_assert_held(&span->lock);
	if (!run)
		return NULL;
	stop_waiting(span, chunk_of(span, run), run);
	chunk_of(span, run)->nr_busy += nr;
	return run;
}

/* Whether a run may be had without a new mapping. */
static bool may_have_run(const struct span_pool *span, unsigned nr)
{
	bool may = span->spare || !list_empty(&span->waiting_by_length[nr]);

	for (unsigned b = nr; !may && b <= SPAN_MAX_RUN; b++)
		may = !list_empty(&span->chunks[b]);
	return may;
}

/*
 * Adds a chunk; the lock is dropped and taken again where one is mapped. True
 * when it pays to look again, also where none can be mapped but another thread
 * gave a run back, or added a chunk, meanwhile.
 */
static bool grow(struct span_pool *span, unsigned nr)
{
	struct chunk *chunk = span->spare;

	lock_assert_held(&span->lock);
	span->spare = NULL;
	if (!chunk) {
		unlock(span);
		chunk = chunk_map(span);
		lock_take(&span->lock);
	}
	if (!chunk)
		return may_have_run(span, nr);
	list_add(&chunk->node, &span->chunks[chunk->bucket]);
	return true;
}

/* Whether nr more granules are within the limit and the slack. */
static bool has_room(const struct span_pool *span, unsigned nr)
{
	uint64_t max = atomic_load_explicit(&span->mem->held_max_bytes,
					    memory_order_relaxed);
	struct mem_held held = mem_held(span->mem);
	uint64_t wanted;

	held.used_granules += nr; /* of which more of the reserve counts */
	wanted = mem_limited_granules(held) * span->granule_bytes;
	return max >= UINT64_MAX - span->slack_bytes ||
	       wanted <= max + span->slack_bytes;
}

/*
 * Finds a run: 0, -ENOMEM, or -EDQUOT. *cold: as a rule it has no memory. The
 * lock may be dropped meanwhile.
 */
static int find_run_to_use(struct span_pool *span, unsigned nr, void **out,
			   bool *cold)
{
	do {
		*cold = false;
		*out = take_waiting(span, nr); /* it is held already */
		if (!*out && !has_room(span, nr))
			return -EDQUOT;
		if (!*out) {
			*out = take_free(span, nr);
			*cold = true;
		}
	} while (!*out && grow(span, nr));
	return *out ? 0 : -ENOMEM;
}

int span_alloc(struct span_pool *span, unsigned nr, void *owner, void **out)
{
	size_t bytes = nr * span->granule_bytes;
	bool cold;
	int err;

	zswap_assert(nr && nr <= SPAN_MAX_RUN && owner);
	lock_take(&span->lock);
	err = find_run_to_use(span, nr, out, &cold);
	if (!err) {
		struct chunk *chunk = chunk_of(span, *out);
		unsigned first = index_of(span, *out);

		span->nr_used += nr;
		for (unsigned i = first; i < first + nr; i++)
			chunk->owners.owner[i] = owner;
		poison_allow_undefined(*out, bytes);
	}
	unlock(span);
	if (!err && cold && bytes > span->mem->os_page &&
	    bytes <= SPAN_POPULATE_BYTES)
		mem_populate(span->mem, *out, bytes);
	return err;
}

void span_free(struct span_pool *span, void *run, unsigned nr)
{
	struct chunk *chunk = chunk_of(span, run);
	struct chunk *retired = NULL;
	bool trim;

	lock_take(&span->lock);
	for (unsigned i = 0; i < nr; i++)
		chunk->owners.owner[index_of(span, run) + i] = NULL;
	poison_forbid(run, nr * span->granule_bytes);
	span->nr_used -= nr;
	if (mem_can_purge(span->mem)) {
		chunk->nr_busy -= nr;
		start_waiting(span, chunk, run, nr);
	} else {
		/* Nothing of it is purged; only a whole chunk can go. */
		retired = finish_trim(span, (struct trim_run){ run, nr },
				      (struct trim_run){ run, 0 });
	}
	trim = span->nr_waiting > reserve_limit(span);
	unlock(span);
	if (retired)
		chunk_dispose(span, retired);
	while (trim)
		trim = trim_once(span);
}

/* ---- check --------------------------------------------------------------- */

struct tally {
	size_t used, waiting, resident;
};

static bool chunk_check(struct span_pool *span, struct chunk *chunk,
			unsigned bucket, struct tally *tally)
{
	unsigned used = 0, waiting = 0;

	for (unsigned i = span->header_granules; i < SPAN_CHUNK_GRANULES; i++) {
		bool free_bit = bit_is_set(chunk->free, i);

		used += chunk->owners.owner[i] != NULL;
		waiting += chunk->waiting[i];
		if (free_bit && (chunk->owners.owner[i] || chunk->waiting[i]))
			return false;
		if (bit_is_set(chunk->resident, i) && !free_bit)
			return false;
	}
	tally->used += used;
	tally->waiting += waiting;
	tally->resident += count_bits(chunk->resident);
	return chunk->bucket == bucket && chunk->nr_busy == used &&
	       chunk->nr_free == count_bits(chunk->free) &&
	       (bucket == SPAN_MAX_RUN ||
		find_run(chunk, bucket + 1) == SPAN_CHUNK_GRANULES) &&
	       chunk->nr_free + used + waiting + span->header_granules ==
		       SPAN_CHUNK_GRANULES;
}

bool span_check(struct span_pool *span)
{
	struct tally tally = { 0, 0, 0 };
	struct list *pos;

	for (unsigned b = 0; b <= SPAN_MAX_RUN; b++)
		list_for_each(pos, &span->chunks[b])
			if (!chunk_check(span,
					 list_entry(pos, struct chunk, node), b,
					 &tally))
				return false;
	return tally.used == span->nr_used &&
	       tally.waiting == span->nr_waiting &&
	       tally.waiting + tally.resident == span->nr_reserve &&
	       span->nr_waiting <= reserve_limit(span);
}
