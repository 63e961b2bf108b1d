
fishweir_status fishweir_push_symbol(fishweir_stream *stream, uint16_t symbol)
{
    const fishweir_status status = is_started(stream);
    return status == FISHWEIR_STATUS_OK ? push_sample(stream, &symbol) : status;
}
