/* SPDX-License-Identifier: MIT */
/*
 * list.h - a doubly linked list whose links live in its members
 *
 * The head is a link of the same type; an empty list's head points to itself,
 * so that no operation has a special case.
 */
#ifndef ZSWAP_LIST_H
#define ZSWAP_LIST_H

#include "base.h"

struct list {
	struct list *next, *prev;
};

#define list_entry(ptr, type, member) container_of(ptr, type, member)

#define list_for_each(pos, head) \
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

/* Allows pos to be taken off, or its memory to go, inside the loop. */
#define list_for_each_safe(pos, tmp, head)                               \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head); \
	     (pos) = (tmp), (tmp) = (pos)->next)

static inline void list_init(struct list *head)
{
	head->next = head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Puts node right after head: in front of all others. */
static inline void list_add(struct list *node, struct list *head)
{
	node->next = head->next;
	node->prev = head;
	head->next->prev = node;
	head->next = node;
}

static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
}

#endif /* ZSWAP_LIST_H */
