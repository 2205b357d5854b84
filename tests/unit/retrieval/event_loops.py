"""Run the same test on asyncio and on trio."""

from __future__ import annotations

import asyncio

import pytest

trio = pytest.importorskip("trio")


class Asyncio:
    CancelledError = asyncio.CancelledError
    sleep = staticmethod(asyncio.sleep)

    @staticmethod
    def run(function, *args):
        async def main():
            try:
                return await function(*args)
            finally:
                assert asyncio.all_tasks() == {asyncio.current_task()}, "a task is left"

        return asyncio.run(main())

    @staticmethod
    async def cancelled_after(event, function):
        """Run a function, and cancel it from outside when the event says so."""
        task = asyncio.ensure_future(function())
        while not event.is_set():  # noqa: ASYNC110 - a thread may set it
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


class Trio:
    CancelledError = trio.Cancelled
    sleep = staticmethod(trio.sleep)
    run = staticmethod(trio.run)

    @staticmethod
    async def cancelled_after(event, function):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(function)
            while not event.is_set():
                await trio.sleep(0.001)
            nursery.cancel_scope.cancel()
