// SPDX-License-Identifier: MIT
/*
 * load.c - pages out
 *
 *	find - pin - decompress straight out of the zspage - take: unlink if the
 *	slot still is this entry - free
 *
 * An entry is pinned under its cluster's lock and read without any. A take is
 * complete only when, under the lock again, the slot's word is still the pinned
 * entry; otherwise another call has replaced, taken or invalidated it, and what
 * was read counts for nothing: start over. Each new start means that another
 * call got its work done.
 *
 * A same-filled page is one word, which is read under the lock; it is delivered
 * after its entry is gone, and can't fail.
 */
#include "entry.h"

#include "fill.h"

/* ---- one page ------------------------------------------------------------ */

enum found {
	FOUND_NOTHING,
	FOUND_WORD,   /* *word is the page; the entry is gone unless kept */
	FOUND_PINNED, /* *out is pinned */
};

static enum found find_page(struct zswap *z, struct cluster *cluster,
			    unsigned slot, bool keep, struct entry **out,
			    uint64_t *word)
{
	unsigned round = 0;
	struct entry *e;

	lock_take(&cluster->lock);
	while ((e = entry_at(cluster, slot))) {
		if (entry_info(e) & ENTRY_FILLED) {
			*word = e->fill;
			if (!keep)
				entry_unlink(cluster, slot);
			cluster_unlock(&z->table, cluster);
			if (!keep)
				entry_put_unlinked(z, e);
			return FOUND_WORD;
		}
		if (likely(entry_pin(e))) {
			lock_give(&cluster->lock);
			*out = e;
			return FOUND_PINNED;
		}
		lock_give(&cluster->lock);
		wait_a_moment(&round);
		lock_take(&cluster->lock);
	}
	lock_give(&cluster->lock);
	return FOUND_NOTHING;
}

/* Takes a pinned entry off its slot; false, unpinned, when it is not there. */
static bool take_page(struct zswap *z, struct cluster *cluster, unsigned slot,
		      struct entry *e)
{
	lock_take(&cluster->lock);
	if (unlikely(entry_at(cluster, slot) != e)) {
		lock_give(&cluster->lock);
		entry_unpin(z, e);
		return false;
	}
	entry_unlink(cluster, slot);
	cluster_unlock(&z->table, cluster);
	entry_put_taken(z, e);
	return true;
}

static int missed(struct zswap *z)
{
	stats_add(&z->stats, STAT_LOAD_MISSES, 1);
	return -ENOENT;
}

int load_page(struct zswap *z, struct area *area, uint64_t offset, void *page,
	      bool keep)
{
	struct cluster *cluster = area_cluster(area, offset);
	unsigned slot = slot_in_cluster(offset);
	struct entry *e;
	uint64_t word;
	int err;

	if (!cluster)
		return missed(z);
	for (;;) {
		switch (find_page(z, cluster, slot, keep, &e, &word)) {
		case FOUND_NOTHING:
			return missed(z);
		case FOUND_WORD:
			fill_page(page, z->page_size, word);
			stats_add(&z->stats, STAT_ZSWPIN, 1);
			return 0;
		case FOUND_PINNED:
			break;
		}
		if (!keep)
			entry_will_free(z, e);
		err = entry_read(z, e, page);
		if (unlikely(err == -EIO))
			stats_add(&z->stats, STAT_DECOMPRESS_FAIL, 1);
		if (err || keep) {
			entry_unpin(z, e);
			break;
		}
		if (take_page(z, cluster, slot, e))
			break;
	}
	stats_add(&z->stats, err ? STAT_LOAD_ERRORS : STAT_ZSWPIN, 1);
	return err;
}

/* ---- a folio ------------------------------------------------------------- */

/*
 * Rounds. Each looks at all slots under the locks, pins what is new there, and
 * reads that without them. A round after the first that finds nothing new has
 * all pages of one moment in the buffers, and takes them in that moment. Only
 * what changed is read again, so that rounds get shorter.
 */
struct load {
	struct zswap *z;
	const struct zswap_folio *folio;
	struct entry *pinned[ZSWAP_MAX_FOLIO]; /* NULL: absent */
	struct entry *stale[ZSWAP_MAX_FOLIO];  /* pinned before, to be put */
	int status[ZSWAP_MAX_FOLIO];           /* 0, -EIO; 1: to be read */
	unsigned nr_stale;
	unsigned nr_present;
	bool news; /* something to be looked into since the last reading */
};

#define TO_BE_READ 1

/* Pins what the slots hold now. False: call again, after a while. */
static bool look(struct load *l, struct range *range)
{
	for (unsigned i = 0; i < range->nr; i++) {
		struct cluster *cluster = range_cluster(range, i);
		struct entry *e =
			cluster ? entry_at(cluster, range_slot(range, i)) :
				  NULL;

		if (e == l->pinned[i])
			continue;
		if (e && !entry_pin(e))
			return false;
		if (l->pinned[i])
			l->stale[l->nr_stale++] = l->pinned[i];
		l->nr_present += !!e;
		l->nr_present -= !!l->pinned[i];
		l->pinned[i] = e;
		l->status[i] = TO_BE_READ;
		l->news = true;
	}
	return true;
}

static void put_stale(struct load *l)
{
	while (l->nr_stale)
		entry_unpin(l->z, l->stale[--l->nr_stale]);
}

/* Reads what is new. 0, or -EDEADLK. */
static int read_news(struct load *l)
{
	for (unsigned i = 0; i < l->folio->nr_pages; i++) {
		int err;

		if (!l->pinned[i] || l->status[i] != TO_BE_READ)
			continue;
		err = entry_read(l->z, l->pinned[i],
				 folio_page(l->z, l->folio, i));
		if (err == -EDEADLK)
			return err;
		l->status[i] = err;
		if (err)
			stats_add(&l->z->stats, STAT_DECOMPRESS_FAIL, 1);
	}
	return 0;
}

static unsigned nr_readable(const struct load *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->folio->nr_pages; i++)
		n += l->pinned[i] && !l->status[i];
	return n;
}

/* Unlinks what was read; the range is locked and as it was. */
static void take(struct load *l, struct range *range)
{
	for (unsigned i = 0; i < range->nr; i++)
		if (l->pinned[i] && !l->status[i])
			entry_unlink(range_cluster(range, i),
				     range_slot(range, i));
}

/* Puts all pins; those of pages taken together with the slot's reference. */
static void finish(struct load *l, bool taken)
{
	for (unsigned i = 0; i < l->folio->nr_pages; i++) {
		if (!l->pinned[i])
			continue;
		if (taken && !l->status[i])
			entry_put_taken(l->z, l->pinned[i]);
		else
			entry_unpin(l->z, l->pinned[i]);
	}
}

static void report(struct load *l, unsigned delivered)
{
	int *results = l->folio->results;
	unsigned nr = l->folio->nr_pages;

	stats_add(&l->z->stats, STAT_ZSWPIN, delivered);
	stats_add(&l->z->stats, STAT_LOAD_MISSES, nr - l->nr_present);
	stats_add(&l->z->stats, STAT_LOAD_ERRORS, l->nr_present - delivered);
	for (unsigned i = 0; results && i < nr; i++)
		results[i] = !l->pinned[i]        ? -ENOENT :
			     l->status[i] == -EIO ? -EIO :
						    0;
}

/* What a load that wants all pages or nothing says of the pages found. */
static int whole(const struct load *l)
{
	if (!l->nr_present)
		return -ENOENT;
	return l->nr_present < l->folio->nr_pages ? -EBUSY : 0;
}

/* Looks until all pins are there; leaves the range locked. */
static void look_and_lock(struct load *l, struct range *range)
{
	unsigned round = 0;

	range_lock(range);
	while (!look(l, range)) {
		range_unlock(range);
		put_stale(l);
		wait_a_moment(&round);
		range_lock(range);
	}
}

/* One round. 1: go on; 0: done, *taken tells if pages were taken; or -errno. */
static int load_round(struct load *l, struct range *range, unsigned flags,
		      bool *taken)
{
	bool partial = flags & ZSWAP_LOAD_PARTIAL;
	int err;

	look_and_lock(l, range);
	*taken = !l->news;
	if (*taken)
		take(l, range);
	range_unlock(range);
	put_stale(l);
	if (*taken)
		return 0;
	err = partial ? 0 : whole(l);
	if (!err)
		err = read_news(l);
	if (!err && !partial && nr_readable(l) < l->nr_present)
		err = -EIO;
	if (err)
		return err;
	l->news = false;
	return !(flags & ZSWAP_LOAD_KEEP) && nr_readable(l);
}

int load_folio(struct zswap *z, struct area *area,
	       const struct zswap_folio *folio, unsigned flags)
{
	struct load l;
	struct range range;
	bool taken = false;
	unsigned delivered = 0;
	int err;

	l.z = z;
	l.folio = folio;
	l.nr_stale = l.nr_present = 0;
	l.news = true; /* the first look decides nothing */
	for (unsigned i = 0; i < folio->nr_pages; i++)
		l.pinned[i] = NULL;
	range_find(&z->table, area, zswap_slot_offset(folio->slot),
		   folio->nr_pages, &range);
	do
		err = load_round(&l, &range, flags, &taken);
	while (err > 0);
	if (!err)
		delivered = nr_readable(&l);
	report(&l, delivered);
	finish(&l, taken);
	return err ? err : flags & ZSWAP_LOAD_PARTIAL ? (int)delivered : 0;
}
