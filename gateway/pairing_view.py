"""The JSON forms of pairings, for the API and `clawd pairing … --json`. No code and no hash is in them."""

from gateway.pairing import PairingStore
from gateway.pairing_state import Approval, Request
from gateway.views import time_json
from sessions.messages import Json, JsonObject


def pairing_json(store: PairingStore) -> JsonObject:
    """`problem` says why nobody counts as approved, null when all is well."""
    pending: list[Json] = [request_json(one) for one in store.pending()]
    approved: list[Json] = [approval_json(one) for one in store.approvals()]
    return {"pending": pending, "approved": approved, "problem": store.problem}


def request_json(request: Request) -> JsonObject:
    return {
        "id": request.id,
        "channel": request.channel,
        "account": request.account,
        "sender": request.sender,
        "name": request.name,
        "at": time_json(request.at),
        "until": time_json(request.until),
    }


def approval_json(approval: Approval) -> JsonObject:
    return {
        "channel": approval.channel,
        "account": approval.account,
        "sender": approval.sender,
        "name": approval.name,
        "at": time_json(approval.at),
        "owner": approval.owner,
    }
