"""How an answer gets at the desk of the application that was asked."""

from typing import Annotated

from fastapi import Depends, Request

from tripcloak.studio.desk import Desk


async def desk_of(request: Request) -> Desk:
    """Return the desk that the application was made for."""
    desk: Desk = request.app.state.desk
    return desk


AtDesk = Annotated[Desk, Depends(desk_of)]
