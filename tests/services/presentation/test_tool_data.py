from services.presentation.tool_data import response_data
from services.scheduler.calls import ToolCallResponse
from services.tools.contract import ToolErrorType


def test_an_empty_response_has_no_data() -> None:
    assert response_data(ToolCallResponse(call_id="c", response_parts=())) is None
    assert response_data(ToolCallResponse(call_id="c", response_parts=(), data={})) is None


def test_a_length_of_zero_is_data() -> None:
    response = ToolCallResponse(call_id="c", response_parts=(), content_length=0, output_file="")
    assert response_data(response) == {"contentLength": 0}


def test_the_responses_own_data_comes_first_and_the_rest_overwrites_it() -> None:
    own = {"contentLength": "mine", "errorType": "mine", "outputFile": "mine", "x": 1}
    response = ToolCallResponse(
        call_id="c",
        response_parts=(),
        data=own,
        error_type=ToolErrorType.STOP_EXECUTION,
        output_file="f",
        content_length=3,
    )
    data = response_data(response)
    assert data == {"contentLength": 3, "errorType": "stop_execution", "outputFile": "f", "x": 1}
    assert type(data["errorType"]) is str
    assert own["errorType"] == "mine"
