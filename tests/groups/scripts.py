"""A step of the recorded scripts of the classic protocol, in the form in which the simulator's is compared with it."""


def expected(recorded_step: dict) -> dict:
    """Members and answers that came together are sorted."""
    group = recorded_step["group"]
    responses = [{**each, "members": sorted(each["members"])} if "members" in each else each
                 for each in recorded_step.get("responses", [])]  # fmt: skip
    return {
        "responses": sorted(responses, key=str),
        "group": group and {**group, "members": sorted(group["members"])},
        "records": recorded_step.get("records", []),
        "time_ms": recorded_step["time_ms"],
    }
