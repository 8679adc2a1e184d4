"""Pictures and a report of a memory, as files that open without a network (extra ``pictures``)."""
