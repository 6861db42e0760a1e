"""The web side of a gateway: from the configuration that holds to what the HTTP surface goes by."""

from datetime import timedelta

from gateway.approval_view import decided_json, pending_json
from gateway.channel_view import ChannelDesk
from gateway.config import Config
from gateway.frontage import Frontage
from gateway.gateway import Gateway
from gateway.http.hub import Hub, News
from gateway.http.rules import HttpRules
from gateway.http.wiring import NO_HOOKS, ApprovalDesk, HookRules, Wiring
from gateway.machine import version
from gateway.media.serving import SentFiles
from gateway.reload import Reload
from sessions.messages import JsonObject

MILLION = 1_000_000


def rules_of(config: Config) -> HttpRules:
    settings = config.gateway
    return HttpRules(
        host=settings.host,
        port=settings.port,
        allowed_hosts=tuple(settings.allowed_hosts),
        allowed_origins=tuple(settings.allowed_origins),
        trusted_proxies=tuple(settings.trusted_proxies),
        max_body_bytes=max(2 * 1024 * 1024, 8 * settings.max_text_chars),
        max_upload_bytes=settings.max_upload_mb * MILLION,
        max_text_chars=settings.max_text_chars,
    )


def hooks_of(config: Config) -> HookRules:
    hooks = config.gateway.hooks
    if not hooks.enabled or hooks.token is None:
        return NO_HOOKS
    return HookRules(
        token=hooks.token.get_secret_value(), agents=tuple(hooks.agents), per_minute=hooks.per_minute
    )


def same_as(token: str, config: Config) -> str | None:
    """Why the hooks' token cannot be taken; None when it can."""
    if hooks_of(config).token != token:
        return None
    return "gateway.hooks.token is the gateway's own token. Give the hooks one of their own."


def wiring_of(gateway: Gateway, frontage: Frontage | None, reload: Reload, hub: Hub) -> Wiring:
    """Webhooks go by the configuration as it is at each request; the hub hears of approvals from now on."""
    desk, outgoing = None, gateway.outgoing
    if gateway.approvals is not None:
        desk = ApprovalDesk(approvals=gateway.approvals, clock=gateway.clock)
        tell_approvals(desk, hub)

    def facts() -> JsonObject:
        return {"version": version(), "turns": gateway.lanes.running, **reload.status()}

    return Wiring(
        hub=hub,
        new_id=gateway.new_id,
        hooks=lambda: hooks_of(reload.config),
        openai_api=reload.started.gateway.openai_api.enabled,
        attachments=frontage.uploads if frontage else None,
        outbox=frontage.front.outbox if frontage else None,
        postman=frontage.front.postman if frontage else None,
        facts=facts,
        wake=frontage.front.waking.wake if frontage else None,
        errands=frontage.front.journals.errands if frontage else None,
        replay_age=timedelta(minutes=reload.started.gateway.replay_minutes),
        channels=_desk_of(gateway, frontage, reload) if frontage else None,
        pairing=frontage.access.store if frontage else None,
        approvals=desk,
        sent=SentFiles(entries=gateway.entries, outgoing=outgoing) if outgoing else None,
    )


def tell_approvals(desk: ApprovalDesk, hub: Hub) -> None:
    """The hub is told of every request that waits, and of what becomes of it."""
    desk.approvals.listen(
        asked=lambda one: hub.tell(News(event="approval.requested", payload=pending_json(one, desk.clock()))),
        over=lambda one, end: hub.tell(News(event="approval.decided", payload=decided_json(one, end))),
    )


def _desk_of(gateway: Gateway, frontage: Frontage, reload: Reload) -> ChannelDesk:
    return ChannelDesk(
        street=frontage.street,
        postman=frontage.front.postman,
        outbox=frontage.front.outbox,
        settings=lambda: reload.config.channels,
        clock=gateway.clock,
        new_id=gateway.new_id,
    )
